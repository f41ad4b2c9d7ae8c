/**
 * A recording step by step: the event, and what it changed for those who watch: accounts, routes, what may be seen, what is owed.
 * Compared with what was there before, over what the turn touched, so that a step costs what it changes.
 */
import type { RecordedEvent } from '../events/index.ts';
import {
  LiveTable,
  StateHasher,
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
} from '../reconcile/index.ts';
import { Owed, touchedRoutes } from './owed.ts';
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
  readonly #owed = new Owed();

  /** Everything owed after the newest event. */
  due(): Iterable<Effect> {
    return this.#owed;
  }

  stateHash(): string {
    return this.#hasher.hash();
  }

  play(event: RecordedEvent): Step {
    const remark = remarkOn(this.state, event);
    const activeBefore = this.state.head.active;
    const turn = evolve(this.state, event);
    this.#hasher.note(turn);
    const names = touchedRoutes(this.state, turn, activeBefore?.account);
    const seenBefore = new Map(names.map((name) => [keyOf(name), this.table.entries.get(keyOf(name))]));
    this.table.withdraw(this.state, names);
    this.table.publish(this.state, names);
    const accounts = [...new Set(turn.accounts)];
    return {
      event,
      remark,
      changed: turn.changed,
      accounts: accounts.flatMap((account) => this.#accountChange(account)),
      routes: names.flatMap((name) => this.#routeChange(name)),
      ...this.#tableChange(seenBefore),
      ...this.#owed.update(this.state, names, accounts),
      anomalies: [...this.state.anomalies.values()].filter(({ lastPosition }) => lastPosition === event.position),
    };
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
  if (until < 1) return player;
  for (const event of log.read()) {
    yield player.play(event);
    // Not one further: the log may not hold there.
    if (event.position >= until) break;
  }
  return player;
}

const keyOf = ({ account, connector }: RouteName): string => routeKey(account, connector);
