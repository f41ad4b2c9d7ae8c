/**
 * Whose tools are wanted: the person's choice and the desktop's login, as `account.activated` and `account.cleared`. The choice
 * outlives the daemon in a small file; every start is a new login (epoch), whoever it is.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Fact } from '../../events/index.ts';
import type { Reconciler } from '../../reconcile/index.ts';
import type { Log } from '../log.ts';
import { SessionRefused, type Sessions } from './sessions.ts';

/** Switches accounts. Each switch is one event; what it withdraws is withdrawn in that turn. */
export interface Accounts {
  /** Makes an account the active one. Throws {@link SessionRefused} when there is no login for it. */
  use(account: string): Promise<void>;
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
  const { sessions, reconciler, choiceFile } = options;
  const become = (account: string | null): void => {
    keepChoice(choiceFile, account);
    if (account !== (reconciler.active?.account ?? null)) reconciler.accept(switched(account, reconciler.nextEpoch()));
    options.onActive(account);
  };
  const login = await currentLogin(options);
  const first = initial(readChoice(choiceFile), login);
  if (first !== null) become(first);
  const stop = followLogin(options, login, become);
  return {
    use: async (account) => {
      await sessions.of(account);
      become(account);
    },
    signOut: () => become(null),
    stop,
  };
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
  become: (account: string | null) => void,
): () => void {
  if (options.sessions.current === undefined) return () => undefined;
  let known = first;
  let stopped = false;
  const look = async (): Promise<void> => {
    const login = await currentLogin(options);
    if (stopped || login === undefined || login === known) return;
    known = login;
    become(login);
  };
  const timer = setInterval(() => void look(), options.lookEveryMs ?? 1_000);
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

/** Whole or not at all: a half-written choice would be nobody's. */
function keepChoice(path: string, account: string | null): void {
  writeFileSync(`${path}.new`, JSON.stringify(account), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
