/**
 * Why a route is, or is not, published: the one reason, the events that made it so, walked back along their causes, and what would
 * change it. Read from the state and the log; decides nothing.
 */
import type { RecordedEvent } from '../events/index.ts';
import { accountNamed } from './accountNames.ts';
import { asidesOf, whose, type Aside } from './aside.ts';
import { formatInstant } from './instant.ts';
import { narrate } from './narrate.ts';
import type { RouteTable } from './project.ts';
import { reasonWords } from './reasons.ts';
import { wouldChange } from './remedy.ts';
import { type Reason } from './standing.ts';
import { allRoutes, findRoute, type RouteRecord, type State } from './state.ts';
import { routeStatus, waitingRoute, type RouteStatus } from './status.ts';

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
  /** The answer in words: the standing, the event that closed it, with its position and time, and what stands beside it. */
  readonly text: string;
  /** Oldest first. The last one is the event that decided, unless the account became active after it. */
  readonly chain: readonly Link[];
  readonly wouldChange: string;
}

/** A chain is for reading: what lies further back than this is one `log show` away. */
const MAX_CAUSES = 6;

/**
 * `account`: an id or a label, see {@link accountNamed}; undefined: the active account's route, or the device's. `read` gives the event
 * at a position. *Errors*: UnknownAccount.
 */
export function explain(
  state: State,
  table: RouteTable,
  read: (position: number) => RecordedEvent | undefined,
  connector: string,
  account?: string | null,
): Explanation {
  const route = account == null ? chooseRoute(state, connector, account) : routeOf(state, connector, account);
  if (route === undefined) return unheardOf(state, connector, account ?? null);
  const status = routeStatus(state, route, table);
  const cited = cite(state, route, status);
  const asides = asidesOf(state, route, status, read);
  const chain = chainOf(cited.positions, asides, read, connector);
  return {
    connector,
    account: route.account,
    state: status.state,
    reason: status.reason,
    text: answer(standing(connector, whose(state, route), status), cited, asides, chain),
    chain,
    wouldChange: wouldChange(state, route, status),
  };
}

/** The route of an account that was named; one that lives on this device is the same for every account. */
function routeOf(state: State, connector: string, named: string): RouteRecord | undefined {
  const account = accountNamed(state, named);
  const [own, device] = [findRoute(state, account, connector), findRoute(state, null, connector)];
  const waits = waitingRoute(state, connector);
  return lives(own) ?? lives(device) ?? (waits === undefined ? undefined : { ...waits, account }) ?? own ?? device;
}

/** The route that a person means: the device's, else the active account's, else any. */
function chooseRoute(state: State, connector: string, account: null | undefined): RouteRecord | undefined {
  if (account === null) return findRoute(state, null, connector) ?? waitingRoute(state, connector);
  const active = state.head.active === null ? undefined : findRoute(state, state.head.active.account, connector);
  const all = [...allRoutes(state)].filter((route) => route.connector === connector);
  return (
    lives(findRoute(state, null, connector)) ??
    active ??
    all.findLast((route) => route.account !== null) ??
    all[0] ??
    waitingRoute(state, connector)
  );
}

const lives = (route: RouteRecord | undefined): RouteRecord | undefined =>
  route?.machine.context.device == null ? undefined : route;

interface Cited {
  /** Positions of the events that made it so. */
  readonly positions: readonly number[];
  /** A refused call before the event that has the last word: the route has been hidden since then. */
  readonly closedAt: number | null;
}

function cite(state: State, route: RouteRecord, status: RouteStatus): Cited {
  const account = route.account === null ? undefined : state.accounts.get(route.account);
  const epochAt = account?.machine.context.epochAt ?? 0;
  const { reason } = status;
  switch (reason) {
    case null:
      // What is being opened anew lost a handle to the event that asked for another: that one is the cause of its close.
      return made(
        status.state === 'published' ? [route.since, route.handledAt] : [route.since, epochAt, route.handledAt],
      );
    case 'signed-out':
      return made([Math.max(...[...state.accounts.values()].map(({ since }) => since), 0)]);
    case 'other-account':
      return made([state.head.active?.at ?? 0]);
    case 'unknown':
      return made([route.machine.value === 'unknown' ? Math.max(epochAt, route.since) : epochAt]);
    case 'stale':
      return made([account?.since ?? 0]);
    case 'newer-event':
      return made([state.foreign.get(route.connector) ?? 0]);
    case 'not-installed': {
      const { device } = route.machine.context;
      // Else it is known from before the start, and was not reported since.
      const isTold = device === null || state.connectors.get(route.connector)?.boot === state.head.boot;
      return made([isTold ? route.since : state.head.bootAt]);
    }
    default: {
      const refusedAt = route.machine.context.overlay?.position ?? Infinity;
      const earlier = refusedAt < route.since;
      return { positions: earlier ? [refusedAt, route.since] : [route.since], closedAt: earlier ? refusedAt : null };
    }
  }
}

const made = (positions: readonly number[]): Cited => ({ positions, closedAt: null });

function chainOf(
  positions: readonly number[],
  asides: readonly Aside[],
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
  for (const { position } of asides) {
    const event = read(position);
    if (event !== undefined) events.set(position, event);
  }
  return [...events.values()]
    .sort((a, b) => a.position - b.position)
    .map((event) => ({ position: event.position, at: event.at, type: event.type, text: narrate(event, connector) }));
}

/** The answer, the event that closed it where another one has the last word, that one, and the asides. Each with its place and time. */
function answer(
  stands: string,
  { positions, closedAt }: Cited,
  asides: readonly Aside[],
  chain: readonly Link[],
): string {
  const last = chain.find(({ position }) => position === Math.max(...positions));
  const linkAt = (at: number | null): Link | undefined =>
    chain.find(({ position }) => position === at && position !== last?.position);
  const say = (words: string, link: Link | undefined): string[] =>
    link === undefined ? [] : [`${words} ${told(link)}`];
  const closing = linkAt(closedAt);
  return [
    stands,
    ...say('Closed by', closing),
    ...say(closing === undefined ? 'Since' : 'Then', last),
    ...asides.flatMap(({ position, words }) => say(words, linkAt(position))),
  ].join('. ');
}

const told = ({ position, at, text }: Link): string => `event ${String(position)} at ${formatInstant(at)}: ${text}`;

function standing(connector: string, of: string, { state, reason }: RouteStatus): string {
  if (state === 'published') return `${connector} is published${of}`;
  if (reason === null) return `${connector} is wanted${of} and being opened`;
  return `${connector} is not published${of}: ${reasonWords(reason).means}`;
}

function unheardOf(state: State, connector: string, account: string | null): Explanation {
  const known = [...new Set([...allRoutes(state)].map((route) => route.connector))].sort();
  return {
    connector,
    account,
    state: 'withheld',
    reason: 'not-installed',
    text: `${connector} is not published: nothing in the log speaks about it${known.length === 0 ? '' : `; known are: ${known.join(', ')}`}`,
    chain: [],
    wouldChange: reasonWords('not-installed').wouldChange,
  };
}
