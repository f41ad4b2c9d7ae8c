/** The one logger, on stderr. Rooms know only the function: (level, message, fields). */
import { pino } from 'pino';

export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Second line of defence: rooms never hand a secret to the log, and if one did it would not be written. */
const secret = ['cookie', 'token', 'secret', 'authorization', 'credential', 'password', 'key'];
const paths = [...secret, ...secret.map((name) => `*.${name}`)];

export function openLog(options: {
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}): Log {
  const level = options.verbose === true ? 'debug' : options.quiet === true ? 'error' : 'info';
  const stderr = pino.destination({ dest: 2, sync: true });
  const logger = pino({ level, base: null, redact: { paths, censor: '[secret]' } }, stderr);
  return (severity, message, fields = {}) => {
    logger[severity](fields, message);
  };
}
