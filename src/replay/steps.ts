/**
 * A recording step by step: the event, and what it changed for those who watch: accounts, routes, what may be seen, what is owed.
 * Compared with what was there before, over what the turn touched, so that a step costs what it changes.
 */
import type { RecordedEvent } from '../events/index.ts';
import {
  LiveTable,
  StateHasher,
  dueForAccount,
  dueForRoute,
  effectText,
  evolve,
  findRoute,
  initialState,
  routeKey,
  routeStatus,
  type Anomaly,
  type Effect,
  type PublishedRoute,
  type RouteName,
  type RouteStatus,
  type State,
  type Turn,
} from '../reconcile/index.ts';
import { remarkOn, type Remark } from './remark.ts';
import type { Recording } from './recording.ts';

/** A route as a person sees it. */
export interface Seen {
  readonly state: RouteStatus['state'];
  readonly reason: RouteStatus['reason'];
}

export interface RouteChange extends RouteName {
  /** `null`: nothing was known of it. */
  readonly before: Seen | null;
  readonly after: Seen;
}

export interface AccountChange {
  readonly account: string;
  readonly before: string | null;
  readonly after: string;
}

export interface Step {
  readonly event: RecordedEvent;
  /** Why the event may say less than it seems to: it speaks of another sign-in, of another handle, of another account. */
  readonly remark: Remark | null;
  /** Whether anything but position and time is different after it, also what is not shown. */
  readonly changed: boolean;
  readonly accounts: readonly AccountChange[];
  readonly routes: readonly RouteChange[];
  readonly published: readonly PublishedRoute[];
  readonly withdrawn: readonly PublishedRoute[];
  readonly newlyDue: readonly Effect[];
  readonly noLongerDue: readonly Effect[];
  readonly anomalies: readonly Anomaly[];
}

/** Plays events one by one. */
export class Player {
  readonly state: State = initialState();
  readonly table = new LiveTable();
  readonly #hasher = new StateHasher(this.state);
  readonly #routes = new Map<string, Seen>();
  readonly #accounts = new Map<string, string>();
  readonly #due = new Map<string, ReadonlyMap<string, Effect>>();

  /** Everything owed after the newest event, by identity. */
  *due(): Iterable<Effect> {
    for (const owed of this.#due.values()) yield* owed.values();
  }

  stateHash(): string {
    return this.#hasher.hash();
  }

  play(event: RecordedEvent): Step {
    const remark = remarkOn(this.state, event);
    const activeBefore = this.state.head.active;
    const turn = evolve(this.state, event);
    this.#hasher.note(turn);
    const names = [
      ...touchedRoutes(this.state, turn, [activeBefore?.account, this.state.head.active?.account]).values(),
    ];
    const seenBefore = new Map(names.map((name) => [keyOf(name), this.table.entries.get(keyOf(name))]));
    this.table.withdraw(this.state, names);
    this.table.publish(this.state, names);
    const accounts = [...new Set(turn.accounts)];
    const owed = [
      ...names.map((name) => this.#owedNow(keyOf(name), routeEffects(this.state, name))),
      ...accounts.map((account) => this.#owedNow(`account ${account}`, dueForAccount(this.state, account))),
    ];
    return {
      event,
      remark,
      changed: turn.changed,
      accounts: accounts.flatMap((account) => this.#accountChange(account)),
      routes: names.flatMap((name) => this.#routeChange(name)),
      ...this.#tableChange(seenBefore),
      newlyDue: owed.flatMap(({ added }) => added),
      noLongerDue: owed.flatMap(({ gone }) => gone),
      anomalies: [...this.state.anomalies.values()].filter(({ lastPosition }) => lastPosition === event.position),
    };
  }

  #owedNow(group: string, effects: readonly Effect[]): { added: Effect[]; gone: Effect[] } {
    const before = this.#due.get(group) ?? new Map<string, Effect>();
    const now = new Map(effects.map((effect) => [effectText(effect), effect]));
    if (now.size > 0) this.#due.set(group, now);
    else this.#due.delete(group);
    return { added: missing(now, before), gone: missing(before, now) };
  }

  #accountChange(account: string): AccountChange[] {
    const before = this.#accounts.get(account) ?? null;
    const after = this.state.accounts.get(account)?.machine.value;
    if (after === undefined || after === before) return [];
    this.#accounts.set(account, after);
    return [{ account, before, after }];
  }

  #routeChange({ account, connector }: RouteName): RouteChange[] {
    const key = routeKey(account, connector);
    const route = findRoute(this.state, account, connector);
    if (route === undefined) return [];
    const { state, reason } = routeStatus(this.state, route, this.table.entries);
    const before = this.#routes.get(key) ?? null;
    if (before?.state === state && before.reason === reason) return [];
    const after = { state, reason };
    this.#routes.set(key, after);
    return [{ account, connector, before, after }];
  }

  /** A route shown under another generation or login is another route: withdrawn, and published anew. A fresher stamp is neither. */
  #tableChange(before: ReadonlyMap<string, PublishedRoute | undefined>): Pick<Step, 'published' | 'withdrawn'> {
    const published: PublishedRoute[] = [];
    const withdrawn: PublishedRoute[] = [];
    for (const [key, was] of before) {
      const is = this.table.entries.get(key);
      if (is?.generation === was?.generation && is?.epoch === was?.epoch) continue;
      if (was !== undefined) withdrawn.push(was);
      if (is !== undefined) published.push(is);
    }
    return { published, withdrawn };
  }
}

/** Every step of a recording, up to and including position `until`. */
export function* steps(log: Recording, until = Infinity): Generator<Step, Player, void> {
  const player = new Player();
  for (const event of log.read()) {
    if (event.position > until) break;
    yield player.play(event);
  }
  return player;
}

const keyOf = ({ account, connector }: RouteName): string => routeKey(account, connector);

const missing = (from: ReadonlyMap<string, Effect>, than: ReadonlyMap<string, Effect>): Effect[] =>
  [...from].filter(([text]) => !than.has(text)).map(([, effect]) => effect);

function routeEffects(state: State, { account, connector }: RouteName): readonly Effect[] {
  const route = findRoute(state, account, connector);
  return route === undefined ? [] : dueForRoute(state, route);
}

/** Routes that a turn touched, and every route of an account that became something else or is active since or until then. */
function touchedRoutes(
  state: State,
  turn: Turn,
  [before, after]: readonly [string | undefined, string | undefined],
): ReadonlyMap<string, RouteName> {
  const names = new Map<string, RouteName>();
  const upheaved = new Set(turn.upheaved);
  if (before !== after) for (const account of [before, after]) if (account !== undefined) upheaved.add(account);
  for (const account of upheaved) for (const route of state.routes.get(account)?.values() ?? []) add(names, route);
  for (const route of turn.routes) add(names, route);
  return names;
}

function add(names: Map<string, RouteName>, { account, connector }: RouteName): void {
  names.set(routeKey(account, connector), { account, connector });
}

/** Names of a state that stand for accounts in what is shown: the order of first appearance, which redaction does not change. */
export function accountLabel(state: State, account: string): string {
  return `account ${String(state.accounts.get(account)?.ordinal ?? '?')}`;
}

/** `docs`, or `account 1/docs`. */
export function routeLabel(state: State, { account, connector }: RouteName): string {
  return account === null ? connector : `${accountLabel(state, account)}/${connector}`;
}

/** Whether a route is of this device or of the active account: the others are rarely what a reader looks for. */
export function isForeground(state: State, { account }: RouteName): boolean {
  return account === null || account === state.head.active?.account;
}
