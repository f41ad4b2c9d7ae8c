/**
 * The shipped core on a stage: one state that is loaded, moved by events and taken back, millions of times. Beside the fold it does
 * what the engine does with a turn: shows what may be seen, and begins what is owed by whatever the turn has touched.
 */
import { RULES, SCHEMA, type Fact, type LoggedEvent } from '../../events/index.ts';
import {
  dueForAccount,
  dueForRoute,
  evolve,
  findRoute,
  initialState,
  project,
  ScanDeadlines,
  type AccountRecord,
  type Head,
  type Installed,
  type PublishedRoute,
  type RouteRecord,
  type State,
  type Turn,
} from '../../reconcile/index.ts';
import { installedFact } from '../device.ts';
import { beginPast, type Line } from './past.ts';
import { leftOf, slotsOf, type Around, type Fetch, type Slot, type SmallWorld, type Work } from './small.ts';

/** All of a state, to come back to. Records are shared with its neighbours. */
export interface Saved {
  readonly head: Head;
  readonly connectors: readonly (readonly [string, Installed])[];
  readonly accounts: readonly AccountRecord[];
  readonly routes: readonly RouteRecord[];
  readonly table: readonly (PublishedRoute | null)[];
  readonly around: Around;
}

/** One thing that may happen: events in one turn, after some time, and the world after it. */
export interface Move {
  readonly facts: readonly Fact[];
  readonly advanceMs: number;
  readonly around: Around;
  /** Something that a calm world does too. */
  readonly calm: boolean;
}

export class Stage {
  readonly world: SmallWorld;
  readonly slots: readonly Slot[];
  readonly accounts: readonly string[];
  readonly state: State = initialState(new ScanDeadlines());
  around: Around;
  /** What is shown, by slot. */
  table: (PublishedRoute | null)[] = [];
  /** The turns of the last move and their events, oldest first. */
  readonly turns: Turn[] = [];
  readonly events: LoggedEvent[] = [];
  /** Events of the prelude. */
  readonly begun: readonly LoggedEvent[];
  #tableBefore: (PublishedRoute | null)[] = [];
  #aroundBefore: Around;

  constructor(world: SmallWorld) {
    this.world = world;
    this.slots = slotsOf(world);
    this.accounts = Object.keys(world.accounts);
    this.around = this.#aroundBefore = beginning(world);
    this.table = this.#tableBefore = this.slots.map(() => null);
    this.begun = this.#prelude().flatMap((facts) => {
      this.apply({ facts, advanceMs: 0, around: this.around, calm: true });
      return [...this.events];
    });
    this.turns.length = 0;
  }

  /** How every story begins: a start, the device, and a login of each account, the last of which holds. */
  #prelude(): readonly (readonly Fact[])[] {
    const logins = [...this.accounts].reverse().map((account, index): Fact[] => [activated(account, 2 + index)]);
    return [this.startFacts(), ...logins];
  }

  /** A start of the process, with the device reported again. */
  startFacts(): readonly Fact[] {
    const { exempt, bound } = this.world;
    const installed = [...exempt, ...bound].map((connector) => this.installed(connector));
    return [{ type: 'engine.started', data: { boot: 'boot', package: 'small', rules: RULES } }, ...installed];
  }

  installed(connector: string, release = connector === this.world.bound[0] ? this.around.release : 1): Fact {
    const local = this.world.exempt.includes(connector);
    const [kind, authorization] = local ? (['stdio', 'none'] as const) : (['remote', 'api_key'] as const);
    return installedFact({
      connector,
      kind,
      authorization,
      release,
      enabled: true,
      incompatible: false,
      present: true,
    });
  }

  record(slot: number): RouteRecord {
    const { account, connector } = this.slots[slot]!;
    return findRoute(this.state, account, connector)!;
  }

  /** Folds the events of a move, shows what may be seen, and begins what is owed. */
  apply(move: Move): void {
    const { state, turns, events } = this;
    const at = state.head.now + move.advanceMs;
    this.#tableBefore = this.table;
    this.#aroundBefore = this.around;
    this.around = move.around;
    turns.length = events.length = 0;
    for (const fact of move.facts) {
      const position = state.head.position + 1;
      const { type, data } = fact;
      const event = { position, type, data, id: 'e', at, cause: null, schema: SCHEMA, rules: RULES } as LoggedEvent;
      events.push(event);
      turns.push(evolve(state, event));
    }
    this.#refresh();
  }

  /** Undoes the last move. */
  takeBack(): void {
    for (let i = this.turns.length - 1; i >= 0; i--) this.turns[i]!.takeBack();
    this.table = this.#tableBefore;
    this.around = this.#aroundBefore;
  }

  save(): Saved {
    const { state, around, table } = this;
    return {
      head: state.head,
      connectors: [...state.connectors],
      accounts: this.accounts.map((account) => state.accounts.get(account)!),
      routes: this.slots.map((_, slot) => this.record(slot)),
      table,
      around,
    };
  }

  load(saved: Saved): void {
    const { state } = this;
    state.head = saved.head;
    for (const [connector, installed] of saved.connectors) state.connectors.set(connector, installed);
    for (const record of saved.accounts) state.accounts.set(record.account, record);
    for (const record of saved.routes) state.routes.get(record.account ?? '')!.set(record.connector, record);
    this.table = saved.table as (PublishedRoute | null)[];
    this.around = saved.around;
  }

  /** What the engine does after the fold: looks again at what the turns have touched, and at what has just come home. */
  #refresh(): void {
    if (this.events.length === 0) return;
    const begun: Work[] = [];
    const fetches: Fetch[] = [];
    for (const slot of this.#touchedSlots()) {
      this.#show(slot);
      this.#beginWorks(slot, begun);
    }
    for (const account of this.accounts) {
      const fetch = this.#isHeard(account) ? this.#beginFetch(account) : null;
      if (fetch !== null) fetches.push(fetch);
    }
    const { around } = this;
    if (begun.length > 0 || fetches.length > 0)
      this.around = { ...around, works: [...around.works, ...begun], fetches: [...around.fetches, ...fetches] };
  }

  #show(slot: number): void {
    const shown = project(this.state, this.record(slot));
    if (shown === this.table[slot]) return;
    if (this.table === this.#tableBefore) this.table = [...this.table];
    this.table[slot] = shown;
  }

  /** Slots of routes that a turn replaced, or whose account became something else, or whose effect has just come home. */
  #touchedSlots(): readonly number[] {
    const { slots, turns, events } = this;
    const touched: number[] = [];
    const [first] = events;
    const home = first?.type.startsWith('route.') === true && 'connector' in first.data ? first.data.connector : null;
    for (let slot = 0; slot < slots.length; slot++) {
      const { account, connector } = slots[slot]!;
      if (connector === home || turns.some((turn) => touches(turn, account, connector))) touched.push(slot);
    }
    return touched;
  }

  #isHeard(account: string): boolean {
    for (const turn of this.turns) if (turn.accounts.includes(account)) return true;
    const [first] = this.events;
    return first?.type.startsWith('snapshot.') === true && 'account' in first.data && first.data.account === account;
  }

  /** Whether somebody is at work on an effect. */
  isAtWork(slot: number, { kind, generation, epoch }: Pick<Work, 'kind' | 'generation' | 'epoch'>): boolean {
    for (const work of this.around.works)
      if (work.slot === slot && work.kind === kind && work.generation === generation && work.epoch === epoch)
        return true;
    return false;
  }

  #beginWorks(slot: number, begun: Work[]): void {
    for (const { kind, generation, epoch } of dueForRoute(this.state, this.record(slot))) {
      const work = { kind, slot, generation, epoch, could: this.isServed(slot) ? 1 : 2 };
      if (!this.isAtWork(slot, work)) begun.push(work);
    }
  }

  #beginFetch(account: string): Fetch | null {
    const [owed] = dueForAccount(this.state, account);
    if (owed === undefined) return null;
    for (const fetch of this.around.fetches) if (fetch.account === account && fetch.epoch === owed.epoch) return null;
    return { account, epoch: owed.epoch, startedAt: this.state.head.position, since: this.around.servers[account]! };
  }

  /** Whether the gateway would let the route be opened now. */
  isServed(slot: number): boolean {
    const { account, connector } = this.slots[slot]!;
    return account === null || this.around.servers[account]?.lines[connector]?.state === 'connected';
  }
}

export const activated = (account: string, epoch: number): Fact => ({
  type: 'account.activated',
  data: { account, epoch },
});

function beginning(world: SmallWorld): Around {
  const first: Line = { state: 'connected', version: 1, hash: 1 };
  const past = (connected: readonly string[]): ReturnType<typeof beginPast> =>
    beginPast(Object.fromEntries(connected.map((connector) => [connector, first])), world.serverEpochs ? 1 : null);
  return {
    login: Object.keys(world.accounts)[0] ?? null,
    servers: Object.fromEntries(Object.entries(world.accounts).map(([account, of]) => [account, past(of)])),
    fetches: [],
    works: [],
    drops: [],
    left: leftOf(world.budget),
    release: 1,
  };
}

function touches({ upheaved, routes }: Turn, account: string | null, connector: string): boolean {
  for (const owner of upheaved) if (owner === (account ?? '')) return true;
  for (const route of routes) if (route.connector === connector && route.account === account) return true;
  return false;
}
