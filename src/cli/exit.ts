/**
 * The exit codes, in one table, and the errors that carry one. DESIGN 10.
 *
 * An error that a person sees says what is wrong and what to do next. Errors of other rooms are told apart by their `name`, so
 * that a command never loads a room only to recognize what it threw.
 */

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** A check ran and found something: doctor, verify, a divergence, a counter-example. */
  problems: 3,
  unauthorized: 4,
  /** Away or too slow; the same command may succeed later. */
  unavailable: 5,
  /** In use by somebody else, or the state was changed in between. */
  conflict: 6,
  /** Ended by SIGINT or SIGTERM, as a shell counts it. */
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a person reads when a command could not do its work. `next` is the step that helps. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    readonly exit: ExitCode,
    message: string,
    readonly next: string,
  ) {
    super(message);
  }
}

interface Verdict {
  readonly exit: ExitCode;
  readonly next: string;
}

/** Error names of the rooms, and of Node where a code says more than a name. */
const known: Readonly<Record<string, Verdict>> = {
  LogConflict: { exit: EXIT.conflict, next: 'stop the other process, or choose another directory with --state' },
  LogUnavailable: { exit: EXIT.unavailable, next: 'free space or make the state directory writable, then try again' },
  LogUnreadable: {
    exit: EXIT.problems,
    next: 'keep the file for the incident; `dacapo log verify` says where it breaks',
  },
  DemoNotRunning: { exit: EXIT.unavailable, next: 'start it with `dacapo up`' },
  SettingsRefused: { exit: EXIT.usage, next: 'see `dacapo demo --help`' },
  NotInstalled: { exit: EXIT.failed, next: 'install it with the npm line above, then start again' },
  ENOENT: { exit: EXIT.failed, next: 'check the path' },
  EACCES: { exit: EXIT.failed, next: 'check who may read and write there' },
  EADDRINUSE: { exit: EXIT.conflict, next: 'end the process that listens there, or choose another port' },
  ECONNREFUSED: { exit: EXIT.unavailable, next: 'start it with `dacapo up`, or name its state directory with --state' },
};

/** Exit code and next step of anything thrown. What is not known is a failure (1) of ours. */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof CommandError) return error;
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  for (const key of [code, name])
    if (typeof key === 'string' && Object.hasOwn(known, key)) return known[key] as Verdict;
  return {
    exit: EXIT.failed,
    next: 'run again with --verbose; if it repeats, report it with `dacapo log export --redact`',
  };
}
