/**
 * The truthful server: for each account a history of what was true, each change with a higher revision, as the real one writes
 * both in one transaction. What makes it untruthful (a restored backup, a version that goes back) is a change of its own, asked for
 * by name; what a reply makes of the truth on its way is the network's business.
 */
import type { Authorization } from '../events/index.ts';

/** The truth about one connection. */
export interface Line {
  readonly state: Authorization;
  readonly version: number;
  readonly hash: string;
}

/** What is true of an account from one change to the next. */
export interface Truth {
  readonly serverEpoch: number | null;
  readonly revision: number;
  /** A connector that is not here was never connected, or was deleted. */
  readonly lines: ReadonlyMap<string, Line>;
}

export class Server {
  readonly #histories = new Map<string, Truth[]>();
  /** Connections ever made: each has a hash of its own. */
  #connections = 0;

  /** `speaksEpochs`: whether this server numbers its lives, so that a restored backup says so itself. */
  constructor(accounts: readonly string[], speaksEpochs: boolean) {
    for (const account of accounts)
      this.#histories.set(account, [{ serverEpoch: speaksEpochs ? 1 : null, revision: 1, lines: new Map() }]);
  }

  /** Oldest first. */
  history(account: string): readonly Truth[] {
    return this.#histories.get(account) ?? [];
  }
  truth(account: string): Truth {
    return this.history(account).at(-1)!;
  }
  line(account: string, connector: string): Line | undefined {
    return this.truth(account).lines.get(connector);
  }
  isConnected(account: string, connector: string): boolean {
    return this.line(account, connector)?.state === 'connected';
  }

  /** Connects, or connects anew: another connection of the same connector. The version goes on. */
  connect(account: string, connector: string): number {
    this.#connections++;
    return this.#change(account, connector, (line) => ({
      state: 'connected',
      version: (line?.version ?? 0) + 1,
      hash: `h${String(this.#connections)}`,
    }));
  }
  /** The same connection, another credential. */
  rotate(account: string, connector: string): number {
    return this.#change(
      account,
      connector,
      (line) => line && { ...line, state: 'connected', version: line.version + 1 },
    );
  }
  revoke(account: string, connector: string): number {
    return this.#change(account, connector, (line) => line && { ...line, state: 'disconnected' });
  }
  expire(account: string, connector: string): number {
    return this.#change(account, connector, (line) => line && { ...line, state: 'reauth_required' });
  }
  /** Another of the account's connections becomes the default one; its version is its own. */
  switchDefault(account: string, connector: string): number {
    this.#connections++;
    const hash = `h${String(this.#connections)}`;
    return this.#change(account, connector, (line) => line && { ...line, hash });
  }
  forget(account: string, connector: string): number {
    return this.#change(account, connector, () => undefined);
  }
  /** Not truthful: the version of an untouched connection goes back. */
  versionBack(account: string, connector: string): number {
    return this.#change(
      account,
      connector,
      (line) => line && { ...line, state: 'connected', version: Math.max(0, line.version - 1) },
    );
  }

  /** A backup comes back, `back` changes old. Says so by its epoch if it speaks of epochs. */
  restore(account: string, back: number): void {
    const history = this.#histories.get(account) ?? [];
    const backup = history[Math.max(0, history.length - 1 - back)]!;
    const { serverEpoch } = history.at(-1)!;
    history.push({ ...backup, serverEpoch: serverEpoch === null ? null : serverEpoch + 1 });
  }

  #change(account: string, connector: string, edit: (line: Line | undefined) => Line | undefined): number {
    const before = this.truth(account);
    const lines = new Map(before.lines);
    const line = edit(lines.get(connector));
    if (line === undefined) lines.delete(connector);
    else lines.set(connector, line);
    const revision = before.revision + 1;
    this.#histories.get(account)?.push({ ...before, revision, lines });
    return revision;
  }
}
