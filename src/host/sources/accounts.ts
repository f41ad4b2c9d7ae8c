/**
 * Whose tools are wanted: the person's choice and the desktop's login, as `account.activated` and `account.cleared`. The choice
 * outlives the daemon in a small file; every start is a new login (epoch), whoever it is.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Fact } from '../../events/index.ts';
import type { Reconciler } from '../../reconcile/index.ts';
import type { Log } from '../log.ts';
import { SessionRefused, type Sessions } from './sessions.ts';

/** A switch was made, and the disk did not take it: a person has to know, because a restart would undo it. */
export class ChoiceNotKept extends Error {
  override readonly name = 'ChoiceNotKept';
  constructor(account: string | null) {
    const now = account === null ? 'no account is active' : `${account} is active`;
    super(`${now}, but that could not be written down: after a restart the choice before it holds`);
  }
}

/** Switches accounts. Each switch is one event; what it withdraws is withdrawn in that turn, whatever the disk does. */
export interface Accounts {
  /** Makes an account the active one. Throws {@link SessionRefused} when there is no login for it, and {@link ChoiceNotKept}. */
  use(account: string): Promise<void>;
  /** Throws {@link ChoiceNotKept}. */
  signOut(): void;
  stop(): void;
}

export interface AccountsOptions {
  readonly sessions: Sessions;
  readonly reconciler: Pick<Reconciler, 'accept' | 'active' | 'nextEpoch'>;
  /** Where the choice is kept. */
  readonly choiceFile: string;
  readonly log: Log;
  /** Told after each switch, and once at the start. */
  readonly onActive: (account: string | null) => void;
  /** How often a single login file is looked at: the desktop writes it without telling. */
  readonly lookEveryMs?: number;
}

/** Restores the choice and follows the login. */
export async function startAccounts(options: AccountsOptions): Promise<Accounts> {
  const { sessions, choiceFile, log } = options;
  const login = await currentLogin(options);
  const follow = (account: string | null): void => {
    try {
      become(options, account);
    } catch (error) {
      if (!(error instanceof ChoiceNotKept)) throw error;
      log('warn', 'the active account could not be written down', { file: choiceFile });
    }
  };
  const first = initial(readChoice(choiceFile), login);
  if (first !== null) follow(first);
  const stop = followLogin(options, login, follow);
  return {
    use: async (account) => {
      await sessions.of(account);
      become(options, account);
    },
    signOut: () => become(options, null),
    stop,
  };
}

/** The core first: what is withdrawn never waits for a disk (law L8), and a full one must not keep anybody signed in. */
function become({ reconciler, choiceFile, onActive }: AccountsOptions, account: string | null): void {
  if (account !== (reconciler.active?.account ?? null)) reconciler.accept(switched(account, reconciler.nextEpoch()));
  onActive(account);
  keepChoice(choiceFile, account);
}

function switched(account: string | null, epoch: number): Fact {
  if (account === null) return { type: 'account.cleared', data: { epoch } };
  return { type: 'account.activated', data: { account, epoch } };
}

/** A login that differs from the choice is a newer choice, unless the person signed out here. */
function initial(choice: string | null | undefined, login: string | null | undefined): string | null {
  if (choice === null) return null;
  return login === undefined ? (choice ?? null) : login;
}

/** `undefined` when the logins are many files, or the one file can't be read now. */
async function currentLogin({ sessions, log }: AccountsOptions): Promise<string | null | undefined> {
  try {
    return await sessions.current?.();
  } catch (error) {
    if (!(error instanceof SessionRefused)) throw error;
    log('warn', 'the session file can not be read', { reason: error.reason });
    return undefined;
  }
}

function followLogin(
  options: AccountsOptions,
  first: string | null | undefined,
  follow: (account: string | null) => void,
): () => void {
  if (options.sessions.current === undefined) return () => undefined;
  let known = first;
  let stopped = false;
  let looking = false;
  const look = async (): Promise<void> => {
    const login = await currentLogin(options);
    if (stopped || login === undefined || login === known) return;
    known = login;
    follow(login);
  };
  const timer = setInterval(() => {
    // One look at a time: a slow one would else come after a later one, with the login before.
    if (looking) return;
    looking = true;
    void look().finally(() => (looking = false));
  }, options.lookEveryMs ?? 1_000);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** `undefined`: never chosen. `null`: signed out. */
function readChoice(path: string): string | null | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'string' || value === null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a half-written choice would be nobody's. Throws {@link ChoiceNotKept}. */
function keepChoice(path: string, account: string | null): void {
  try {
    writeFileSync(`${path}.new`, JSON.stringify(account), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    throw new ChoiceNotKept(account);
  }
}
