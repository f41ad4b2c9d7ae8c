/**
 * The shipped core on a stage: one state that is loaded, moved by events and taken back, millions of times. Beside the fold it does
 * what the engine does with a turn: shows what may be seen, and begins what is owed by whatever the turn has touched.
 */
import { RULES, SCHEMA, type Fact, type LoggedEvent } from '../../events/index.ts';
import {
  dueForAccount,
  dueForRoute,
  evolve,
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
import {
  leftOf,
  slotsOf,
  withFetches,
  withWorks,
  type Around,
  type Slot,
  type SmallWorld,
  type Work,
} from './small.ts';

/** All of a state, to come back to. Records are shared with its neighbours. */
export interface Saved {
  readonly head: Head;
  readonly connectors: readonly Installed[];
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
  /** Accounts by name, in the order of {@link accounts}. */
  readonly names: readonly string[];
  readonly state: State = initialState(new ScanDeadlines());
  around: Around;
  /** Records as they stand on the stage, in the order of slots, of accounts and of connectors. Replaced, never changed. */
  routes: readonly RouteRecord[] = [];
  accounts: readonly AccountRecord[] = [];
  connectors: readonly Installed[] = [];
  /** What is shown, by slot. */
  table: readonly (PublishedRoute | null)[] = [];
  /** The turns of the last move and their events, oldest first. */
  turns: Turn[] = [];
  events: LoggedEvent[] = [];
  /** Events of the prelude. */
  readonly begun: readonly LoggedEvent[];
  readonly #installs: readonly string[];
  #before: Saved;

  constructor(world: SmallWorld) {
    this.world = world;
    this.slots = slotsOf(world);
    this.names = Object.keys(world.accounts);
    this.#installs = [...world.exempt, ...world.bound];
    this.around = beginning(world);
    this.table = this.slots.map(() => null);
    this.#before = this.save();
    this.begun = this.#prelude().flatMap((facts) => {
      this.apply({ facts, advanceMs: 0, around: this.around, calm: true });
      return [...this.events];
    });
    this.turns = [];
  }

  /** How every story begins: a start, the device, and a login of each account, the last of which holds. */
  #prelude(): readonly (readonly Fact[])[] {
    const logins = [...this.names].reverse().map((account, index): Fact[] => [activated(account, 2 + index)]);
    return [this.startFacts(), ...logins];
  }

  /** A start of the process, with the device reported again. */
  startFacts(): readonly Fact[] {
    const installed = this.#installs.map((connector) => this.installed(connector));
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

  /** Folds the events of a move, shows what may be seen, and begins what is owed. */
  apply(move: Move): void {
    const { state } = this;
    const at = state.head.now + move.advanceMs;
    this.#before = this.save();
    this.around = move.around;
    const turns: Turn[] = (this.turns = []);
    const events: LoggedEvent[] = (this.events = []);
    for (const { type, data } of move.facts) {
      const position = state.head.position + 1;
      const event = { position, type, data, id: 'e', at, cause: null, schema: SCHEMA, rules: RULES } as LoggedEvent;
      events.push(event);
      turns.push(evolve(state, event));
    }
    if (events.length === 0) return;
    this.#lookAgain();
    this.#begin();
  }

  /** Undoes the last move. */
  takeBack(): void {
    for (let i = this.turns.length - 1; i >= 0; i--) this.turns[i]!.takeBack();
    this.#show(this.#before);
  }

  save(): Saved {
    const { routes, accounts, connectors, table, around, state } = this;
    return { head: state.head, connectors, accounts, routes, table, around };
  }

  /** Neighbours share most of their records, so only the others are put in their places. */
  load(saved: Saved): void {
    const { state } = this;
    state.head = saved.head;
    saved.connectors.forEach((installed, index) => {
      if (installed !== this.connectors[index]) state.connectors.set(this.#installs[index]!, installed);
    });
    saved.accounts.forEach((record, index) => {
      if (record !== this.accounts[index]) state.accounts.set(record.account, record);
    });
    saved.routes.forEach((record, index) => {
      if (record !== this.routes[index]) state.routes.get(record.account ?? '')!.set(record.connector, record);
    });
    this.#show(saved);
  }

  #show({ routes, accounts, connectors, table, around }: Saved): void {
    this.routes = routes;
    this.accounts = accounts;
    this.connectors = connectors;
    this.table = table;
    this.around = around;
  }

  /** Asked of the state and not of the turn: whether a turn names all that it changed is one of the questions. */
  #lookAgain(): void {
    const { routes, accounts, connectors } = this.state;
    this.routes = renewed(this.routes, this.slots, ({ account, connector }) =>
      routes.get(account ?? '')?.get(connector),
    );
    this.accounts = renewed(this.accounts, this.names, (account) => accounts.get(account));
    this.connectors = renewed(this.connectors, this.#installs, (connector) => connectors.get(connector));
  }

  /** What the engine does after the fold: looks again at what the turns have touched, and at what has just come home. */
  #begin(): void {
    const { type, data } = this.events[0]!;
    const home = type.startsWith('route.') && 'connector' in data ? data.connector : null;
    const answered = type.startsWith('snapshot.') && 'account' in data ? data.account : null;
    for (let slot = 0; slot < this.slots.length; slot++) {
      if (this.slots[slot]!.connector !== home && !this.#isTouched(slot)) continue;
      this.#publish(slot);
      this.#beginWorks(slot);
    }
    for (const account of this.names) if (account === answered || this.#isHeard(account)) this.#beginFetch(account);
  }

  #publish(slot: number): void {
    const shown = project(this.state, this.routes[slot]!);
    if (shown === this.table[slot]) return;
    const table = this.table.slice();
    table[slot] = shown;
    this.table = table;
  }

  /** Whether a turn replaced the route, or its account became something else. */
  #isTouched(slot: number): boolean {
    const { account, connector } = this.slots[slot]!;
    for (const turn of this.turns) if (touches(turn, account, connector)) return true;
    return false;
  }

  #isHeard(account: string): boolean {
    for (const turn of this.turns) if (turn.accounts.includes(account)) return true;
    return false;
  }

  /** Whether somebody is at work on an effect. */
  isAtWork(slot: number, { kind, generation, epoch }: Pick<Work, 'kind' | 'generation' | 'epoch'>): boolean {
    for (const work of this.around.works)
      if (work.slot === slot && work.kind === kind && work.generation === generation && work.epoch === epoch)
        return true;
    return false;
  }

  #beginWorks(slot: number): void {
    for (const { kind, generation, epoch } of dueForRoute(this.state, this.routes[slot]!)) {
      const work = { kind, slot, generation, epoch, could: this.isServed(slot) ? 1 : 2 };
      if (!this.isAtWork(slot, work)) this.around = withWorks(this.around, [...this.around.works, work]);
    }
  }

  #beginFetch(account: string): void {
    const [owed] = dueForAccount(this.state, account);
    if (owed === undefined) return;
    const { fetches, servers } = this.around;
    for (const fetch of fetches) if (fetch.account === account && fetch.epoch === owed.epoch) return;
    const fetch = { account, epoch: owed.epoch, startedAt: this.state.head.position, since: servers[account]! };
    this.around = withFetches(this.around, [...fetches, fetch]);
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

/** The list as it is now: the very same one where nothing in it is another. */
function renewed<K, T>(list: readonly T[], keys: readonly K[], look: (key: K) => T | undefined): readonly T[] {
  let now: T[] | null = list.length === keys.length ? null : new Array<T>(keys.length);
  for (let index = 0; index < keys.length; index++) {
    const one = look(keys[index]!)!;
    if (now === null && one === list[index]) continue;
    now ??= list.slice();
    now[index] = one;
  }
  return now ?? list;
}

function touches({ upheaved, routes }: Turn, account: string | null, connector: string): boolean {
  for (const owner of upheaved) if (owner === (account ?? '')) return true;
  for (const route of routes) if (route.connector === connector && route.account === account) return true;
  return false;
}
