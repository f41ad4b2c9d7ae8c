/**
 * A world for reading: given what is installed and who is signed in, when this is learned, then this is published and this is owed.
 * Drives the shipped fold and projector; time moves only when told.
 */
import { RULES, SCHEMA, uint64, type Fact, type LoggedEvent, type Payload } from '../../src/events/index.ts';
import {
  due,
  effectText,
  evolve,
  explain,
  initialState,
  LiveTable,
  nextWake,
  stateHash,
  statusOf,
  type Effect,
  type State,
} from '../../src/reconcile/index.ts';

type Snapshot = Payload<'snapshot.received'>;
type EntryOf = Snapshot['entries'][string];

export const connected = (connectionVersion: number, hash = 'h1'): EntryOf =>
  entry('connected', connectionVersion, hash);
export const disconnected = (connectionVersion: number, hash: string | null = null): EntryOf =>
  entry('disconnected', connectionVersion, hash);
export const reauth = (connectionVersion: number, hash = 'h1'): EntryOf =>
  entry('reauth_required', connectionVersion, hash);
const entry = (
  state: 'connected' | 'disconnected' | 'reauth_required',
  version: number,
  connectionIdHash: string | null,
): EntryOf => ({
  state,
  connectionVersion: uint64(version),
  connectionIdHash,
  releaseVersion: null,
});

export const SECOND = 1_000;
export const MINUTE = 60_000;

export interface InstalledAs {
  readonly kind?: 'remote' | 'stdio' | 'builtin';
  readonly authorization?: 'none' | 'api_key' | 'oauth2';
  readonly digest?: string;
  readonly enabled?: boolean;
  readonly incompatible?: string | null;
}

export class Scenario {
  readonly state: State = initialState();
  readonly log: LoggedEvent[] = [];
  readonly table = new LiveTable();
  now = 1_000_000;
  #epoch = 0;

  constructor() {
    this.learn({ type: 'engine.started', data: { boot: 'boot', package: '0.1.0', rules: RULES } });
  }

  /** Takes in a fact, and shows what may be seen after it. */
  learn(fact: Fact, cause: number | null = null): this {
    const position = this.state.head.position + 1;
    const event: LoggedEvent = {
      ...fact,
      position,
      id: `e${String(position)}`,
      at: this.now,
      cause,
      schema: SCHEMA,
      rules: RULES,
    };
    this.log.push(event);
    evolve(this.state, event);
    const routes = [...this.state.routes.values()].flatMap((routes) => [...routes.values()]);
    this.table.withdraw(this.state, routes);
    this.table.publish(this.state, routes);
    return this;
  }

  installed(connector: string, as: InstalledAs = {}): this {
    const release = { version: '1.0.0', digest: as.digest ?? 'd1' };
    const { kind = 'remote', authorization = 'api_key', enabled = true, incompatible = null } = as;
    return this.learn({
      type: 'connector.installed',
      data: { connector, release, kind, authorization, enabled, incompatible },
    });
  }

  signIn(account: string): this {
    this.#epoch = this.state.head.epochs + 1;
    return this.learn({ type: 'account.activated', data: { account, epoch: this.#epoch } });
  }

  signOut(): this {
    return this.learn({ type: 'account.cleared', data: { epoch: this.state.head.epochs + 1 } });
  }

  restart(): this {
    return this.learn({ type: 'engine.started', data: { boot: 'boot', package: '0.1.0', rules: RULES } });
  }

  get account(): string {
    return this.state.head.active?.account ?? 'nobody';
  }
  get epoch(): number {
    return this.state.head.active?.epoch ?? 0;
  }
  /** A place in the log to begin a read at, before something else happens. */
  get position(): number {
    return this.state.head.position;
  }

  read(
    revision: number,
    entries: Snapshot['entries'],
    more: Partial<Omit<Snapshot, 'revision' | 'entries'>> = {},
  ): this {
    const data: Snapshot = {
      account: this.account,
      epoch: this.epoch,
      startedAt: this.position,
      serverEpoch: null,
      revision: uint64(revision),
      complete: true,
      entries,
      ...more,
    };
    return this.learn({ type: 'snapshot.received', data });
  }

  hint(revision: number | null, account = this.account): this {
    const data = {
      account,
      revision: revision === null ? null : uint64(revision),
      connector: null,
      incarnation: 'i',
      count: 1,
    };
    return this.learn({ type: 'hint.received', data });
  }

  /** Time passes, and every wake-up on the way happens. */
  later(ms: number): this {
    const until = this.now + ms;
    for (let next = nextWake(this.state); next !== null && next <= until; next = nextWake(this.state)) {
      this.now = Math.max(this.now, next);
      this.learn({ type: 'clock.ticked', data: { reason: 'wake' } });
    }
    this.now = until;
    return this;
  }

  poll(): this {
    return this.learn({ type: 'clock.ticked', data: { reason: 'poll' } });
  }

  get due(): readonly Effect[] {
    return due(this.state);
  }
  get owed(): string[] {
    return this.due.map(({ kind, ...rest }) => ('connector' in rest ? `${kind} ${rest.connector}` : kind));
  }
  dueOpen(connector: string): Extract<Effect, { kind: 'openRoute' | 'closeRoute' }> {
    const found = this.due.find((effect) => effect.kind === 'openRoute' && effect.connector === connector);
    if (found?.kind !== 'openRoute')
      throw new Error(`no open of ${connector} is owed, only: ${this.due.map(effectText).join('; ')}`);
    return found;
  }

  /** The host performs the open that is owed. */
  open(connector: string, effect = this.dueOpen(connector)): this {
    const { kind: _, ...route } = effect;
    return this.learn({ type: 'route.opened', data: { ...route, tools: { count: 2, digest: 't' } } });
  }

  fail(
    connector: string,
    reason: Payload<'route.openFailed'>['reason'] = 'unavailable',
    effect = this.dueOpen(connector),
  ): this {
    const { kind: _, ...route } = effect;
    const code = reason === 'rejected' ? (428 as const) : null;
    return this.learn({
      type: 'route.openFailed',
      data: { ...route, reason, detail: null, code, stamp: null, retryAfterMs: null },
    });
  }

  /** The host closes every handle that is to be closed. */
  closeAll(): this {
    for (const effect of this.due) {
      if (effect.kind !== 'closeRoute') continue;
      const { kind: _, ...route } = effect;
      this.learn({ type: 'route.closed', data: { ...route, reason: 'withdrawn' } });
    }
    return this;
  }

  reject(
    connector: string,
    generation = this.generationOf(connector),
    more: Partial<Payload<'call.rejected'>> = {},
  ): this {
    const data = {
      account: this.account,
      epoch: this.epoch,
      connector,
      generation,
      stamp: null,
      code: -33002 as const,
      ...more,
    };
    return this.learn({ type: 'call.rejected', data });
  }

  generationOf(connector: string): string {
    const published = [...this.table.entries.values()].find((route) => route.connector === connector);
    if (published === undefined) throw new Error(`${connector} is not published`);
    return published.generation;
  }

  drop(connector: string): this {
    return this.learn({ type: 'connection.dropping', data: { account: this.account, epoch: this.epoch, connector } });
  }
  dropped(connector: string, revision: number | null): this {
    const data = {
      account: this.account,
      epoch: this.epoch,
      connector,
      revision: revision === null ? null : uint64(revision),
    };
    return this.learn({ type: 'connection.dropped', data });
  }
  dropFailed(connector: string): this {
    return this.learn({
      type: 'connection.dropFailed',
      data: { account: this.account, epoch: this.epoch, connector, reason: 'lost' },
    });
  }

  get published(): string[] {
    return [...this.table.entries.keys()].sort();
  }
  reasonOf(connector: string): string | null {
    return this.why(connector).reason;
  }
  why(connector: string, account?: string): ReturnType<typeof explain> {
    return explain(this.state, this.table.entries, (position) => this.log[position - 1], connector, account);
  }
  get anomalies(): string[] {
    return [...this.state.anomalies.values()].map(({ type }) => type);
  }
  get wants(): boolean {
    return statusOf(this.state, this.table.entries, this.now).wanted !== null;
  }
  get hash(): string {
    return stateHash(this.state);
  }
}

/** `docs` is installed, ann is signed in, read as connected, and open. */
export const docsPublished = (): Scenario =>
  new Scenario()
    .installed('docs')
    .signIn('ann')
    .read(5, { docs: connected(1) })
    .open('docs');
