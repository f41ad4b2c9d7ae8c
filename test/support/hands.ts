/** Hands that a test moves itself: every effect waits until the test ends it, and time stands still until the test moves it. */
import {
  LogConflict,
  LogUnavailable,
  memoryLog,
  type Edge,
  type EventLog,
  type Fact,
  type NewEvent,
  uint64,
} from '../../src/events/index.ts';
import {
  effectText,
  openReconciler,
  type Effect,
  type PerformContext,
  type Reconciler,
} from '../../src/reconcile/index.ts';

export class StillEdge implements Edge {
  nowMs = 1_000_000;
  #ids = 0;
  #wakes: { atMs: number; fire: () => void }[] = [];

  now(): number {
    return this.nowMs;
  }
  newId(): string {
    return `id${String(++this.#ids)}`;
  }
  wake(ms: number, fire: () => void): () => void {
    const wake = { atMs: this.nowMs + ms, fire };
    this.#wakes.push(wake);
    return () => (this.#wakes = this.#wakes.filter((other) => other !== wake));
  }
  /** Moves time, and fires what comes due on the way, in order. */
  pass(ms: number): void {
    const until = this.nowMs + ms;
    for (;;) {
      const next = this.#wakes.filter(({ atMs }) => atMs <= until).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#wakes = this.#wakes.filter((other) => other !== next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.fire();
    }
    this.nowMs = until;
  }
  get waiting(): number {
    return this.#wakes.length;
  }
}

/** A memory log whose disk can be full, or which somebody else can take. */
export class FullableLog implements EventLog {
  readonly inner: EventLog = memoryLog();
  full = false;
  taken = false;
  appends = 0;
  refusals = 0;

  get head(): number {
    return this.inner.head;
  }
  append(events: readonly NewEvent[], expectedHead?: number): ReturnType<EventLog['append']> {
    if (this.taken) throw new LogConflict('somebody else writes this log');
    if (this.full) this.refusals += 1;
    if (this.full) throw new LogUnavailable('disk full');
    this.appends += 1;
    return this.inner.append(events, expectedHead);
  }
  positionOf(id: string): number | undefined {
    return this.inner.positionOf(id);
  }
  read(from?: number): ReturnType<EventLog['read']> {
    return this.inner.read(from);
  }
  mark(position: number, stateHash: string): void {
    this.inner.mark(position, stateHash);
  }
  marks(): ReturnType<EventLog['marks']> {
    return this.inner.marks();
  }
  verify(): ReturnType<EventLog['verify']> {
    return this.inner.verify();
  }
  close(): void {
    this.inner.close();
  }
}

export interface Work {
  readonly effect: Effect;
  readonly context: PerformContext;
  readonly end: (fact: Fact) => Promise<void>;
}

/** An engine with hands that wait. */
export class Bench {
  readonly edge = new StillEdge();
  readonly log = new FullableLog();
  readonly works: Work[] = [];
  readonly failures: unknown[] = [];
  readonly engine: Reconciler;

  constructor() {
    this.engine = openReconciler({
      log: this.log,
      edge: this.edge,
      package: '0.1.0',
      boot: 'boot',
      perform: (effect, context) => this.#begin(effect, context),
      onFailure: (error) => this.failures.push(error),
    });
  }

  #begin(effect: Effect, context: PerformContext): Promise<Fact> {
    return new Promise((resolve) => {
      const end = async (fact: Fact): Promise<void> => {
        this.works.splice(this.works.indexOf(work), 1);
        resolve(fact);
        await settled();
      };
      const work: Work = { effect, context, end };
      this.works.push(work);
    });
  }

  get atWork(): string[] {
    return this.works.map(({ effect }) =>
      effect.kind === 'fetchSnapshot' ? effect.kind : `${effect.kind} ${effect.connector}`,
    );
  }
  work(text: string): Work {
    const found = this.works.find((_, index) => this.atWork[index] === text);
    if (found === undefined)
      throw new Error(
        `nobody is at work on ${text}, only on: ${this.works.map(({ effect }) => effectText(effect)).join('; ')}`,
      );
    return found;
  }

  install(connector: string, kind: 'remote' | 'stdio' = 'remote'): this {
    const release = { version: '1.0.0', digest: 'd' };
    const authorization = kind === 'remote' ? 'api_key' : 'none';
    this.engine.accept({
      type: 'connector.installed',
      data: { connector, release, kind, authorization, enabled: true, incompatible: null },
    });
    return this;
  }
  signIn(account: string): this {
    this.engine.accept({ type: 'account.activated', data: { account, epoch: this.engine.nextEpoch() } });
    return this;
  }

  /** Version of each connection; `null` for one that is closed. */
  async read(revision: number, connectors: Record<string, number | null>): Promise<this> {
    await settled();
    const { effect, context, end } = this.work('fetchSnapshot');
    if (effect.kind !== 'fetchSnapshot') throw new Error('not a fetch');
    const entries = Object.fromEntries(
      Object.entries(connectors).map(([connector, version]) => [
        connector,
        {
          state: version === null ? ('disconnected' as const) : ('connected' as const),
          connectionVersion: uint64(version ?? 1),
          connectionIdHash: 'h',
          releaseVersion: null,
        },
      ]),
    );
    const { account, epoch } = effect;
    await end({
      type: 'snapshot.received',
      data: {
        account,
        epoch,
        startedAt: context.startedAt,
        serverEpoch: null,
        revision: uint64(revision),
        complete: true,
        entries,
      },
    });
    return this;
  }
  async open(connector: string): Promise<this> {
    await settled();
    const { effect, end } = this.work(`openRoute ${connector}`);
    const { kind: _, ...route } = effect as Extract<Effect, { kind: 'openRoute' | 'closeRoute' }>;
    await end({ type: 'route.opened', data: { ...route, tools: { count: 1, digest: 't' } } });
    return this;
  }
  async closed(connector: string): Promise<this> {
    await settled();
    const { effect, end } = this.work(`closeRoute ${connector}`);
    const { kind: _, ...route } = effect as Extract<Effect, { kind: 'openRoute' | 'closeRoute' }>;
    await end({ type: 'route.closed', data: { ...route, reason: 'withdrawn' } });
    return this;
  }

  get published(): string[] {
    return [...this.engine.table.keys()];
  }
  get types(): string[] {
    return [...this.log.read()].map(({ type }) => type);
  }
}

/** Lets promises that are already resolved run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function docsLive(): Promise<Bench> {
  const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1 });
  return bench.open('docs');
}
