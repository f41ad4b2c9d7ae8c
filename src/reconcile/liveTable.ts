/**
 * The published table, kept up to date route by route. Two halves on purpose: what may no longer be seen leaves before the log is
 * written, what is new enters after (law L8).
 */
import { project, type PublishedRoute, type RouteTable } from './project.ts';
import { findRoute, routeKey, type RouteKey, type State } from './state.ts';

export interface RouteName {
  readonly account: string | null;
  readonly connector: string;
}

export class LiveTable {
  readonly #entries = new Map<RouteKey, PublishedRoute>();

  get entries(): RouteTable {
    return this.#entries;
  }

  /** Removes what is no longer derivable. A route under another generation or epoch is another route. */
  withdraw(state: State, names: Iterable<RouteName>): boolean {
    let changed = false;
    for (const name of names) {
      const key = routeKey(name.account, name.connector);
      const held = this.#entries.get(key);
      if (held === undefined) continue;
      const next = projected(state, name);
      if (next?.generation === held.generation && next.epoch === held.epoch) continue;
      changed = this.#entries.delete(key);
    }
    return changed;
  }

  /** Adds and refreshes what is derivable. Only once the events that say so are durable. */
  publish(state: State, names: Iterable<RouteName>): boolean {
    let changed = false;
    for (const name of names) {
      const next = projected(state, name);
      const key = routeKey(name.account, name.connector);
      if (next === null || same(this.#entries.get(key), next)) continue;
      this.#entries.set(key, next);
      changed = true;
    }
    return changed;
  }

  /** Shows nothing: the engine can't vouch for anything any more. */
  clear(): boolean {
    const had = this.#entries.size > 0;
    this.#entries.clear();
    return had;
  }
}

function projected(state: State, { account, connector }: RouteName): PublishedRoute | null {
  const route = findRoute(state, account, connector);
  return route === undefined ? null : project(state, route);
}

function same(a: PublishedRoute | undefined, b: PublishedRoute): boolean {
  return (
    a !== undefined &&
    a.generation === b.generation &&
    a.epoch === b.epoch &&
    a.stamp?.line === b.stamp?.line &&
    a.stamp?.revision === b.stamp?.revision &&
    a.connectionVersion === b.connectionVersion &&
    a.tools.digest === b.tools.digest
  );
}
