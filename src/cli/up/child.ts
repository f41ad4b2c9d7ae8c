/**
 * One child process of `up`, kept alive: started, waited for until it says that it is ready, and started again when it dies.
 *
 * The child is the very command a person would run alone. It gets a bare environment and no secret by argument; what it needs
 * lies in files that its configuration names. Its channel to us is there to be closed: when we die, it stops.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { CommandError, EXIT, type ExitCode } from '../exit.ts';
import { turnOver } from './directory.ts';

export type ReadyLine = Readonly<Record<string, unknown>>;

export interface ChildOptions {
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** Where its stderr goes, appended. */
  readonly logFile: string;
  /** All that it knows of its surroundings; when absent, what a child may know of ours. */
  readonly env?: NodeJS.ProcessEnv;
  /** Patience with a child that was told to stop. */
  readonly killAfterMs?: number;
  /** Told of every life that began, by its first line on stdout. */
  readonly onReady?: (pid: number) => void;
  /** Told of every death that was not asked for. */
  readonly onDeath?: (how: string, retryMs: number) => void;
}

export interface Child {
  /** Of the process that runs now; null between two. */
  readonly pid: number | null;
  /** What it said when it was first ready. Rejects with a CommandError when starting it again can't help. */
  readonly ready: Promise<ReadyLine>;
  /** SIGTERM, and SIGKILL when that does not help. Resolves when the process is gone. */
  stop(): Promise<void>;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;
/** A child that lived this long starts its next life with a clean record. */
const STABLE_MS = 30_000;
const KILL_AFTER_MS = 9_000;
/** Deaths in a row, before it was ever ready, after which it is given up. */
const HOPELESS = 3;
/** Exit codes that another start would only repeat. */
const FINAL: readonly ExitCode[] = [EXIT.usage, EXIT.problems, EXIT.conflict];
const final = (code: number | null): ExitCode | undefined => FINAL.find((one) => one === code);
const LOG_BYTES = 8 * 1024 * 1024;

/** Pause before the life that follows `deaths` deaths in a row: doubled each time, within bounds. */
export function retryDelayMs(deaths: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (deaths - 1), LONGEST_RETRY_MS);
}

export function superviseChild(options: ChildOptions): Child {
  let running: ChildProcess | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let deaths = 0;
  const started = promised();

  const live = (): void => {
    try {
      follow(launch(options));
    } catch (error) {
      stillborn(error);
    }
  };
  const follow = (child: ChildProcess): void => {
    const bornAt = performance.now();
    running = child;
    // Without a process there is no exit to wait for.
    child.on('error', (error) => child.pid === undefined && stillborn(error));
    firstLine(child, (line) => {
      options.onReady?.(child.pid ?? 0);
      started.resolve(line);
    });
    child.once('exit', (code, signal) => {
      running = null;
      deaths = performance.now() - bornAt > STABLE_MS ? 1 : deaths + 1;
      if (!stopping) dead(code, signal ?? `exit code ${String(code)}`);
    });
  };
  /** At its first start nothing helps; later the machine may only be short of something for a moment. */
  const stillborn = (error: unknown): void => {
    running = null;
    if (!started.settled) return started.reject(error);
    deaths += 1;
    if (!stopping) dead(null, (error as NodeJS.ErrnoException).code ?? 'could not be started');
  };
  const dead = (code: number | null, how: string): void => {
    const pointless = final(code) !== undefined || deaths >= HOPELESS;
    if (!started.settled && pointless) return started.reject(hopeless(options, how, code));
    options.onDeath?.(how, retryDelayMs(deaths));
    timer = setTimeout(live, retryDelayMs(deaths));
  };
  live();
  return {
    get pid() {
      return running?.pid ?? null;
    },
    ready: started.promise,
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      if (running !== null) await end(running, options.killAfterMs ?? KILL_AFTER_MS);
    },
  };
}

interface Started {
  readonly promise: Promise<ReadyLine>;
  readonly settled: boolean;
  resolve(line: ReadyLine): void;
  reject(error: unknown): void;
}

/** A promise to be settled from outside, that knows whether it is. Its rejection is for those who ask: nobody may. */
function promised(): Started {
  let settled = false;
  let settle: { resolve: (line: ReadyLine) => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<ReadyLine>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => undefined);
  return {
    promise,
    get settled() {
      return settled;
    },
    resolve: (line) => {
      settled = true;
      settle?.resolve(line);
    },
    reject: (error) => {
      settled = true;
      settle?.reject(error);
    },
  };
}

/** Variables a child may know. Ours (`DACAPO_*`) are not among them: its configuration file is all it is to obey. */
const PASSED = /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_.*|XDG_.*|NODE_EXTRA_CA_CERTS|NO_COLOR|CI)$/;

const passed = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name)));

function launch({ command: [program, ...args], logFile, env = passed() }: ChildOptions): ChildProcess {
  turnOver(logFile, LOG_BYTES);
  const log = openSync(logFile, 'a', 0o600);
  try {
    // Of its own group: Ctrl-C in a terminal goes to us alone, and we stop them in order.
    return spawn(program, args, { env, stdio: ['ignore', 'pipe', log, 'ipc'], detached: true });
  } finally {
    closeSync(log);
  }
}

function firstLine(child: ChildProcess, tell: (line: ReadyLine) => void): void {
  // Where files have run out there is no channel either.
  const lines = child.stdout == null ? undefined : createInterface({ input: child.stdout });
  lines?.once('line', (line) => {
    const said = parsed(line);
    if (said?.['ready'] === true) tell(said);
  });
}

function parsed(line: string): ReadyLine | undefined {
  try {
    return JSON.parse(line) as ReadyLine;
  } catch {
    return undefined;
  }
}

async function end(child: ChildProcess, patienceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const last = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await gone;
  clearTimeout(last);
}

function hopeless({ name, logFile }: ChildOptions, how: string, code: number | null): CommandError {
  const said = tail(logFile);
  return new CommandError(
    final(code) ?? EXIT.failed,
    `${name} did not start (${how})${said === '' ? '' : `:\n${said}`}`,
    `read ${logFile}`,
  );
}

function tail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
}
