/** Where the room says what it did. A port: only the command line knows a logger. Fields never carry a secret. */
export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Says nothing. For embedders that do not care. */
export const silent: Log = () => undefined;
