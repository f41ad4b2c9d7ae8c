/** What is owed, kept up to date over what each turn touched, so that a step costs what it changes. */
import {
  dueForAccount,
  dueForRoute,
  effectText,
  findRoute,
  routeKey,
  type Effect,
  type RouteName,
  type State,
  type Turn,
} from '../reconcile/index.ts';

export interface OwedChange {
  readonly newlyDue: readonly Effect[];
  readonly noLongerDue: readonly Effect[];
}

export class Owed {
  readonly #groups = new Map<string, ReadonlyMap<string, Effect>>();

  *[Symbol.iterator](): Iterator<Effect> {
    for (const owed of this.#groups.values()) yield* owed.values();
  }

  /** After a turn: `names` are the routes that it may have touched, see {@link touchedRoutes}. */
  update(state: State, names: readonly RouteName[], accounts: Iterable<string>): OwedChange {
    const changes = [
      ...names.map((name) => this.#put(routeKey(name.account, name.connector), ofRoute(state, name))),
      ...[...new Set(accounts)].map((account) => this.#put(`account ${account}`, dueForAccount(state, account))),
    ];
    return {
      newlyDue: changes.flatMap(({ newlyDue }) => newlyDue),
      noLongerDue: changes.flatMap(({ noLongerDue }) => noLongerDue),
    };
  }

  #put(group: string, effects: readonly Effect[]): OwedChange {
    const before = this.#groups.get(group);
    if (before === undefined && effects.length === 0) return NOTHING;
    const now = new Map(effects.map((effect) => [effectText(effect), effect]));
    if (now.size > 0) this.#groups.set(group, now);
    else this.#groups.delete(group);
    return { newlyDue: missing(now, before ?? NONE), noLongerDue: missing(before ?? NONE, now) };
  }
}

const NONE: ReadonlyMap<string, Effect> = new Map();
const NOTHING: OwedChange = { newlyDue: [], noLongerDue: [] };

const missing = (from: ReadonlyMap<string, Effect>, than: ReadonlyMap<string, Effect>): Effect[] =>
  [...from].filter(([text]) => !than.has(text)).map(([, effect]) => effect);

function ofRoute(state: State, { account, connector }: RouteName): readonly Effect[] {
  const route = findRoute(state, account, connector);
  return route === undefined ? [] : dueForRoute(state, route);
}

/** Routes that a turn touched, and every route of an account that became something else, or is active since or until then. */
export function touchedRoutes(state: State, turn: Turn, activeBefore: string | undefined): readonly RouteName[] {
  const names = new Map<string, RouteName>();
  const upheaved = new Set(turn.upheaved);
  const active = state.head.active?.account;
  if (activeBefore !== active)
    for (const account of [activeBefore, active]) if (account !== undefined) upheaved.add(account);
  for (const account of upheaved) for (const route of state.routes.get(account)?.values() ?? []) add(names, route);
  for (const route of turn.routes) add(names, route);
  return [...names.values()];
}

function add(names: Map<string, RouteName>, { account, connector }: RouteName): void {
  names.set(routeKey(account, connector), { account, connector });
}
