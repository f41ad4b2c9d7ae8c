/** Where the room says what it did. A port: only the command line knows a logger. Fields never carry a token or a secret. */
export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** What the room takes from the machine it runs on; a test hands in its own. */
export interface Edge {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Buffer;
  readonly log: Log;
}
