/**
 * A tale: a short history of one daemon, told to the shipped engine by hands that a script moves. What comes of it is a log file as
 * `dacapo log export` writes one. The logs beside the golden transcripts are made of these.
 */
import {
  exportLines,
  memoryLog,
  uint64,
  type EventLog,
  type Fact,
  type Payload,
  type RowSource,
} from '../../src/events/index.ts';
import {
  effectText,
  openReconciler,
  type Effect,
  type PerformContext,
  type Reconciler,
} from '../../src/reconcile/index.ts';
import { settled, StillEdge } from './hands.ts';

type Entries = Payload<'snapshot.received'>['entries'];
type Snapshot = Payload<'snapshot.received'>;
type OpenFailed = Payload<'route.openFailed'>;
type RouteEffect = Extract<Effect, { kind: 'openRoute' | 'closeRoute' }>;

interface Work {
  readonly effect: Effect;
  readonly context: PerformContext;
  readonly resolve: (fact: Fact) => void;
}

const PACKAGE = '0.1.0';
/** 2026-01-05, nine in the morning, in Greenwich. */
const MORNING_MS = 1_767_603_600_000;

export class Tale {
  readonly log: EventLog & RowSource = memoryLog();
  readonly edge = new StillEdge();
  #works: Work[] = [];
  #boots = 0;
  engine: Reconciler;

  constructor() {
    this.edge.nowMs = MORNING_MS;
    this.engine = this.#start();
  }

  #start(): Reconciler {
    this.#works = [];
    const perform = (effect: Effect, context: PerformContext): Promise<Fact> =>
      new Promise((resolve) => this.#works.push({ effect, context, resolve }));
    const boot = `boot${String(++this.#boots)}`;
    return openReconciler({ log: this.log, edge: this.edge, package: PACKAGE, boot, perform });
  }

  /** The process dies where it stands; another one reads its log. */
  async restart(): Promise<this> {
    await this.engine.close();
    this.engine = this.#start();
    return this;
  }

  say(fact: Fact): this {
    this.engine.accept(fact);
    return this;
  }
  wait(ms: number): this {
    this.edge.pass(ms);
    return this;
  }

  install(connector: string, kind: 'remote' | 'stdio' = 'remote'): this {
    const release = { version: '1.0.0', digest: `${connector}-1` };
    const authorization = kind === 'remote' ? 'api_key' : 'none';
    return this.say({
      type: 'connector.installed',
      data: { connector, release, kind, authorization, enabled: true, incompatible: null },
    });
  }
  signIn(account: string): this {
    return this.say({ type: 'account.activated', data: { account, epoch: this.engine.nextEpoch() } });
  }
  signOut(): this {
    return this.say({ type: 'account.cleared', data: { epoch: this.engine.nextEpoch() } });
  }
  hint(revision: number | null, account = this.#login.account): this {
    const data = { account, revision: revision === null ? null : uint64(revision), connector: null, count: 1 };
    return this.say({ type: 'hint.received', data: { ...data, incarnation: 'ws1' } });
  }
  poll(): this {
    return this.say({ type: 'clock.ticked', data: { reason: 'poll' } });
  }
  get #login(): { readonly account: string; readonly epoch: number } {
    const { account, epoch } = this.engine.active ?? { account: 'nobody', epoch: 1 };
    return { account, epoch };
  }

  /** A call in flight on the published handle is refused. */
  refuse(connector: string): this {
    const route = [...this.engine.table.values()].find((shown) => shown.connector === connector);
    if (route === undefined || route.account === null) throw new Error(`${connector} is not published`);
    const { account, epoch, generation, stamp } = route;
    return this.say({ type: 'call.rejected', data: { account, epoch, connector, generation, stamp, code: -33002 } });
  }
  drop(connector: string): this {
    return this.say({ type: 'connection.dropping', data: { ...this.#login, connector } });
  }
  dropped(connector: string, revision: number): this {
    return this.say({ type: 'connection.dropped', data: { ...this.#login, connector, revision: uint64(revision) } });
  }

  async #end(text: string, outcome: (work: Work) => Fact): Promise<this> {
    await settled();
    const work = this.#works.find(({ effect }) => nameOf(effect) === text);
    const owed = this.#works.map(({ effect }) => effectText(effect)).join('; ');
    if (work === undefined) throw new Error(`nobody is at work on "${text}", only on: ${owed}`);
    this.#works.splice(this.#works.indexOf(work), 1);
    work.resolve(outcome(work));
    await settled();
    return this;
  }

  /** The server answers the read that is under way, 80 ms later. */
  read(revision: number, entries: Entries, more: Partial<Snapshot> = {}): Promise<this> {
    this.wait(80);
    return this.#end('read', ({ effect, context: { startedAt } }) => {
      const { account, epoch } = effect as Extract<Effect, { kind: 'fetchSnapshot' }>;
      const body = { serverEpoch: null, revision: uint64(revision), complete: true, entries };
      return { type: 'snapshot.received', data: { account, epoch, startedAt, ...body, ...more } };
    });
  }
  failRead(reason: string): Promise<this> {
    this.wait(80);
    return this.#end('read', ({ effect }) => {
      const { account, epoch } = effect as Extract<Effect, { kind: 'fetchSnapshot' }>;
      return { type: 'snapshot.failed', data: { account, epoch, reason, retryAfterMs: null } };
    });
  }
  open(connector: string, count = 2): Promise<this> {
    this.wait(200);
    const tools = { count, digest: `${connector}-tools` };
    return this.#end(`open ${connector}`, ({ effect }) => ({
      type: 'route.opened',
      data: { ...routeOf(effect), tools },
    }));
  }
  failOpen(connector: string, reason: OpenFailed['reason'], detail: string): Promise<this> {
    this.wait(200);
    const rest = { reason, detail, code: null, stamp: null, retryAfterMs: null };
    return this.#end(`open ${connector}`, ({ effect }) => ({
      type: 'route.openFailed',
      data: { ...routeOf(effect), ...rest },
    }));
  }
  close(connector: string): Promise<this> {
    this.wait(5);
    return this.#end(`close ${connector}`, ({ effect }) => ({
      type: 'route.closed',
      data: { ...routeOf(effect), reason: 'withdrawn' },
    }));
  }

  /** The log as a file's lines. */
  lines(): string[] {
    return [...exportLines(this.log, { package: PACKAGE })];
  }
}

const nameOf = (effect: Effect): string =>
  effect.kind === 'fetchSnapshot' ? 'read' : `${effect.kind === 'openRoute' ? 'open' : 'close'} ${effect.connector}`;

function routeOf(effect: Effect): Omit<RouteEffect, 'kind'> {
  const { kind: _, ...route } = effect as RouteEffect;
  return route;
}

/** ann is signed in; `docs` is remote, connected and open; `files` is a local server. */
export async function morning(): Promise<Tale> {
  const tale = new Tale().install('docs').install('files', 'stdio');
  await tale.open('files', 14);
  tale
    .wait(900)
    .say({ type: 'hints.opened', data: { incarnation: 'ws1' } })
    .signIn('ann');
  await tale.read(5, { docs: connected(1) });
  return tale.open('docs');
}

type EntryOf = Entries[string];
const entry = (
  state: 'connected' | 'disconnected' | 'reauth_required',
  version: number,
  connectionIdHash: string | null,
): EntryOf => ({ state, connectionVersion: uint64(version), connectionIdHash, releaseVersion: null });

export const connected = (version: number, hash = 'h1'): EntryOf => entry('connected', version, hash);
export const disconnected = (version: number): EntryOf => entry('disconnected', version, null);
export const reauth = (version: number): EntryOf => entry('reauth_required', version, 'h1');
