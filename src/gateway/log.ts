/** Where the gateway says what it did. A port: only the command line knows a logger. Fields never carry a token or a credential. */
export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Says nothing. For embedders that do not care. */
export const silent: Log = () => undefined;
