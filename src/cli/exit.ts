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

const upHint = 'start it with `dacapo up`, or name its state directory with --state';
/** What helps when the account's own session is not accepted. */
export const signInHint = 'sign in again, or switch with `dacapo account use`';
const versionHint = 'use the release that wrote it, or choose another directory with --state';

/** Errors of the rooms by name, with their `reason` after a colon where it tells more; and of Node, by code. */
const known: Readonly<Record<string, Verdict>> = {
  LogConflict: { exit: EXIT.conflict, next: 'stop the other process, or choose another directory with --state' },
  // Its message says what is wanting: room, a right, another program to end.
  LogUnavailable: { exit: EXIT.unavailable, next: 'put that right, then try again' },
  LogAbsent: { exit: EXIT.unavailable, next: 'name the state directory of its daemon with --state' },
  LogOutdated: { exit: EXIT.unavailable, next: 'start the daemon anew, which brings it up to date' },
  LogUnreadable: {
    exit: EXIT.problems,
    next: 'keep the file for the incident; `dacapo log verify [FILE]` says where it breaks',
  },
  UnknownAccount: { exit: EXIT.usage, next: 'name one of these with --account' },
  BadEvent: { exit: EXIT.problems, next: 'export the log again' },
  StoreRefused: { exit: EXIT.failed, next: versionHint },
  'StoreRefused:damaged': { exit: EXIT.failed, next: 'restore a backup, or choose another directory' },
  'StoreRefused:key': { exit: EXIT.usage, next: 'put that right, then start again' },
  'StoreRefused:in-use': { exit: EXIT.conflict, next: 'stop the other authority, or choose another directory' },
  AddressRefused: { exit: EXIT.usage, next: 'see schemas/config.json' },
  SocketPathTooLong: { exit: EXIT.usage, next: 'choose a shorter directory with --state' },
  DaemonNotRunning: { exit: EXIT.unavailable, next: upHint },
  ControlBroken: { exit: EXIT.unavailable, next: 'see `dacapo status`, then try again' },
  'ControlBroken:unknown-outcome': {
    exit: EXIT.unavailable,
    next: 'look whether it acted before you do it again; `dacapo status` says whether the daemon is back',
  },
  ControlUnreachable: { exit: EXIT.unavailable, next: 'see `dacapo status`, then try again' },
  ChoiceNotKept: { exit: EXIT.failed, next: 'free space or make the state directory writable, then do it again' },
  'SessionRefused:absent': { exit: EXIT.unauthorized, next: 'sign it in, or name one that is' },
  SessionRefused: { exit: EXIT.unauthorized, next: signInHint },
  BadSession: { exit: EXIT.failed, next: 'see `dacapo status`; the server may be of another release' },
  McpError: { exit: EXIT.failed, next: 'see `dacapo status`' },
  AuthorizationRefused: { exit: EXIT.failed, next: 'see `dacapo status`' },
  'AuthorizationRefused:signed-out': { exit: EXIT.unauthorized, next: 'dacapo account use ACCOUNT' },
  'AuthorizationRefused:session': { exit: EXIT.unauthorized, next: signInHint },
  'AuthorizationRefused:forbidden': { exit: EXIT.unauthorized, next: signInHint },
  'AuthorizationRefused:conflict': { exit: EXIT.conflict, next: 'see `dacapo status`, then do it again' },
  'AuthorizationRefused:limited': { exit: EXIT.unavailable, next: 'wait a moment, then do it again' },
  'AuthorizationRefused:unavailable': { exit: EXIT.unavailable, next: 'see `dacapo status`, then do it again' },
  'AuthorizationRefused:secret-needed': {
    exit: EXIT.usage,
    next: 'echo SECRET | dacapo connect CONNECTOR --secret-stdin',
  },
  'AuthorizationRefused:no-control-plane': { exit: EXIT.usage, next: 'set daemon.controlUrl in the configuration' },
  'AuthorizationRefused:busy': { exit: EXIT.conflict, next: 'wait until the other one ended' },
  UnknownCommand: { exit: EXIT.failed, next: 'the daemon is of another release: start it anew' },
  NoAccounts: { exit: EXIT.usage, next: 'set daemon.sessionFile in the configuration' },
  FileInTheWay: { exit: EXIT.usage, next: 'name a new file, or an older export' },
  BadInput: { exit: EXIT.usage, next: 'correct the argument' },
  BadJson: { exit: EXIT.usage, next: 'correct the argument' },
  BodyTooLarge: { exit: EXIT.usage, next: 'send less at once' },
  DemoNotRunning: { exit: EXIT.unavailable, next: 'start it with `dacapo up`' },
  SettingsRefused: { exit: EXIT.usage, next: 'see `dacapo demo --help`' },
  NotInstalled: { exit: EXIT.failed, next: 'install it with the npm line above, then start again' },
  ENOSPC: { exit: EXIT.unavailable, next: 'free space there, then do it again' },
  EDQUOT: { exit: EXIT.unavailable, next: 'free space there, then do it again' },
  ENOENT: { exit: EXIT.failed, next: 'check the path' },
  ENOTDIR: { exit: EXIT.failed, next: 'check the path' },
  EISDIR: { exit: EXIT.failed, next: 'name a file' },
  ENAMETOOLONG: { exit: EXIT.usage, next: 'choose a shorter path' },
  EACCES: { exit: EXIT.failed, next: 'check who may read and write there' },
  EPERM: { exit: EXIT.failed, next: 'check who may read and write there' },
  EROFS: { exit: EXIT.failed, next: 'choose a place on a file system that takes writes' },
  EFBIG: { exit: EXIT.failed, next: 'raise the limit for files (`ulimit -f`), then do it again' },
  EMFILE: { exit: EXIT.unavailable, next: 'raise the limit for open files (`ulimit -n`), then do it again' },
  EIO: { exit: EXIT.failed, next: 'check the disk' },
  EADDRINUSE: { exit: EXIT.conflict, next: 'end the process that listens there, or choose another port' },
  ECONNREFUSED: { exit: EXIT.unavailable, next: upHint },
};

/** Exit code and next step of anything thrown. What is not known is a failure (1) of ours. */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof CommandError) return error;
  const found = keysOf(error).find((key) => Object.hasOwn(known, key));
  if (found !== undefined) return known[found] as Verdict;
  return {
    exit: EXIT.failed,
    next: 'run again with --verbose; if it repeats, report it with `dacapo log export --redact`',
  };
}

/** Most telling first. An error that crossed the daemon's socket has its name as `kind`. */
function keysOf(error: unknown): readonly string[] {
  const { kind, name, code, reason } = (error ?? {}) as Readonly<Record<'kind' | 'name' | 'code' | 'reason', unknown>>;
  const names = [kind, name].filter((text) => typeof text === 'string');
  const codes = typeof code === 'string' ? [code] : [];
  return [...names.map((text) => `${text}:${String(reason)}`), ...names, ...codes];
}
