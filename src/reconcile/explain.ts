/**
 * Why a route is, or is not, published: the one reason, the events that made it so, walked back along their causes, and what would
 * change it. Read from the state and the log; decides nothing.
 */
import type { RecordedEvent } from '../events/index.ts';
import { narrate } from './narrate.ts';
import type { RouteTable } from './project.ts';
import { reasonWords } from './reasons.ts';
import { type Reason } from './standing.ts';
import { allRoutes, findRoute, type RouteRecord, type State } from './state.ts';
import { routeStatus, type RouteStatus } from './status.ts';

export interface Link {
  readonly position: number;
  readonly at: number;
  readonly type: string;
  /** One sentence, without a full stop. */
  readonly text: string;
}

export interface Explanation {
  readonly connector: string;
  readonly account: string | null;
  readonly state: RouteStatus['state'];
  readonly reason: Reason | null;
  /** The answer in one sentence. */
  readonly text: string;
  /** Oldest first; the last one is the event that decided. */
  readonly chain: readonly Link[];
  readonly wouldChange: string;
}

/** A chain is for reading: what lies further back than this is one `log show` away. */
const MAX_CAUSES = 6;

/** `account` undefined: the active account's route, or the device's. `read` gives the event at a position. */
export function explain(
  state: State,
  table: RouteTable,
  read: (position: number) => RecordedEvent | undefined,
  connector: string,
  account?: string | null,
): Explanation {
  const route = chooseRoute(state, connector, account);
  if (route === undefined) return unheardOf(state, connector, account ?? null);
  const status = routeStatus(state, route, table);
  const chain = chainOf(decidingPositions(state, route, status), read, connector);
  const words = status.reason === null ? null : reasonWords(status.reason);
  return {
    connector,
    account: route.account,
    state: status.state,
    reason: status.reason,
    text: answer(connector, status, chain.at(-1)),
    chain,
    wouldChange: words?.wouldChange ?? liveChange(status),
  };
}

/** The route that a person means: of the account asked for, else the device's, else the active account's, else any. */
function chooseRoute(state: State, connector: string, account: string | null | undefined): RouteRecord | undefined {
  if (account !== undefined) return findRoute(state, account, connector);
  const lives = (route: RouteRecord | undefined): RouteRecord | undefined =>
    route?.machine.context.device == null ? undefined : route;
  const active = state.head.active === null ? undefined : findRoute(state, state.head.active.account, connector);
  const all = [...allRoutes(state)].filter((route) => route.connector === connector);
  return (
    lives(findRoute(state, null, connector)) ?? active ?? all.findLast((route) => route.account !== null) ?? all[0]
  );
}

/** Positions of the events that made it so, the deciding one last. */
function decidingPositions(state: State, route: RouteRecord, status: RouteStatus): number[] {
  const account = route.account === null ? undefined : state.accounts.get(route.account);
  switch (status.reason) {
    case null:
      return status.state === 'published'
        ? [route.since, route.handledAt]
        : [route.since, account?.machine.context.epochAt ?? 0].sort(ascending);
    case 'signed-out':
      return [Math.max(...[...state.accounts.values()].map(({ since }) => since), 0)];
    case 'other-account':
      return [state.head.active?.at ?? 0];
    case 'unknown':
    case 'stale':
      return [account?.since ?? 0];
    case 'newer-event':
      return [state.foreign.get(route.connector) ?? 0];
    default:
      return [route.since];
  }
}

const ascending = (a: number, b: number): number => a - b;

function chainOf(
  positions: readonly number[],
  read: (position: number) => RecordedEvent | undefined,
  connector: string,
): Link[] {
  const events = new Map<number, RecordedEvent>();
  for (const position of positions) {
    let event = position > 0 ? read(position) : undefined;
    for (let i = 0; event !== undefined && i < MAX_CAUSES && !events.has(event.position); i++) {
      events.set(event.position, event);
      event = event.cause === null || event.cause === 0 ? undefined : read(event.cause);
    }
  }
  return [...events.values()]
    .sort((a, b) => a.position - b.position)
    .map((event) => ({ position: event.position, at: event.at, type: event.type, text: narrate(event, connector) }));
}

function answer(connector: string, status: RouteStatus, last: Link | undefined): string {
  const since = last === undefined ? '' : ` since event ${String(last.position)}: ${last.text}`;
  if (status.state === 'published') return `${connector} is published${since}`;
  if (status.reason === null) return `${connector} is wanted and being opened${since}`;
  return `${connector} is not published, because ${reasonWords(status.reason).means};${since}`;
}

const liveChange = (status: RouteStatus): string =>
  status.state === 'published'
    ? 'a revocation, a refused call, a switch of account, or the end of its process would withdraw it'
    : 'the outcome of opening it';

function unheardOf(state: State, connector: string, account: string | null): Explanation {
  const known = [...new Set([...allRoutes(state)].map((route) => route.connector))].sort();
  return {
    connector,
    account,
    state: 'withheld',
    reason: 'not-installed',
    text: `${connector} is not published, because nothing in the log speaks about it${known.length === 0 ? '' : `; known are: ${known.join(', ')}`}`,
    chain: [],
    wouldChange: reasonWords('not-installed').wouldChange,
  };
}
