/** What a person or a program is told of the state now. The shape is the contract of `status --json`, DESIGN 10. */
import { isUnknown, type LoggedEventOf, type RecordedEvent, type Uint64 } from '../events/index.ts';
import { isExempt, routeTable } from '../machines/index.ts';
import { due, effectText, type Effect } from './due.ts';
import type { RouteTable } from './project.ts';
import { standingOf, type Reason } from './standing.ts';
import { allRoutes, newRoute, routeKey, type Anomaly, type Head, type RouteRecord, type State } from './state.ts';

type Login = NonNullable<Head['active']>;

export interface RouteStatus {
  readonly connector: string;
  readonly account: string | null;
  readonly state: 'published' | 'opening' | 'withheld' | 'faulted' | 'closing';
  readonly reason: Reason | null;
  readonly stamp: { readonly revision: Uint64; readonly connectionVersion: Uint64; readonly line: number } | null;
  readonly tools: number | null;
  /** Times in a row that it could not be opened, or was lost soon after. */
  readonly attempts: number;
  /** ms since epoch, when something will be tried again by itself. */
  readonly nextAttemptAt: number | null;
}

export interface FailedRead {
  readonly reason: string;
  readonly position: number;
  /** ms since epoch. */
  readonly at: number;
  readonly nextAttemptAt: number;
}

/** The last read of an account, while none has succeeded after it. No state holds its reason: nothing is decided by that. */
export type LastFailure = LoggedEventOf<'snapshot.failed'> | null;

/** What is to be told after one more event was folded: what comes in late, of an earlier login, says nothing about this one. */
export function lastFailureAfter(event: RecordedEvent, last: LastFailure, { head }: State): LastFailure {
  if (isUnknown(event)) return last;
  if (event.type !== 'snapshot.failed' && event.type !== 'snapshot.received') return last;
  if (event.data.epoch !== head.active?.epoch) return last;
  return event.type === 'snapshot.failed' ? event : null;
}

export interface Status {
  readonly account: {
    readonly id: string;
    readonly epoch: number;
    readonly revision: Uint64 | null;
    readonly state: string;
    readonly synced: boolean;
    /** Since the last accepted read of this login. */
    readonly ageMs: number | null;
    /** The last read of this login, where it failed; absent where nobody listened for it. */
    readonly failed?: FailedRead | null;
  } | null;
  readonly routes: readonly RouteStatus[];
  /** What the account still wants to read, and why. */
  readonly wanted: {
    readonly since: number | null;
    readonly revision: Uint64 | null;
    readonly nextAttemptAt: number | null;
  } | null;
  readonly due: readonly string[];
  readonly anomalies: readonly Anomaly[];
}

/** `nowMs` is the reader's clock: the state's own stands still between events. */
export function statusOf(state: State, table: RouteTable, nowMs: number, last?: LastFailure): Status {
  return {
    account: accountStatus(state, nowMs, last),
    routes: relevantRoutes(state).map((route) => routeStatus(state, route, table)),
    wanted: wantedStatus(state),
    due: due(state).map((effect: Effect) => effectText(effect)),
    anomalies: [...state.anomalies.values()],
  };
}

/** Routes of the device and of the active account; of another account only what is still open. */
function relevantRoutes(state: State): RouteRecord[] {
  const mine = (route: RouteRecord): boolean =>
    route.account === null || route.account === state.head.active?.account || route.handles.length > 0;
  // A route that moved between device and account by release leaves an empty record behind.
  const lives = (route: RouteRecord): boolean =>
    route.machine.context.device !== null || route.handles.length > 0 || route.account !== null;
  return [...[...allRoutes(state)].filter((route) => mine(route) && lives(route)), ...waiting(state)];
}

/** Connectors that belong to accounts have no route while nobody is signed in; a person looks for them all the same. */
function waiting(state: State): RouteRecord[] {
  if (state.head.active !== null) return [];
  return [...state.connectors.keys()].flatMap((connector) => waitingRoute(state, connector) ?? []);
}

/** A route in nobody's name, for an installed connector that waits for an account. It is shown, never kept. */
export function waitingRoute(state: State, connector: string): RouteRecord | undefined {
  const device = state.connectors.get(connector)?.device;
  if (device === undefined || isExempt(device)) return undefined;
  const route = newRoute(null, connector, 0);
  return { ...route, machine: routeTable.step(route.machine, { type: 'device', device }) };
}

export function routeStatus(state: State, route: RouteRecord, table: RouteTable): RouteStatus {
  const { wanted, reason } = standingOf(state, route);
  const { read, fault, overlay, attempts } = route.machine.context;
  const published = table.get(routeKey(route.account, route.connector));
  const faulted = reason === 'faulted' || reason === 'contract';
  const withheld = route.handles.length > 0 ? 'closing' : faulted ? 'faulted' : 'withheld';
  return {
    connector: route.connector,
    account: route.account,
    state: published !== undefined ? 'published' : wanted ? 'opening' : withheld,
    reason,
    stamp:
      read === null
        ? null
        : { revision: read.stamp.revision, connectionVersion: read.entry.connectionVersion, line: read.stamp.line },
    tools: published?.tools.count ?? null,
    attempts,
    nextAttemptAt: fault?.retryAtMs ?? (overlay?.confirmed === true ? overlay.holdUntilMs : null),
  };
}

function accountStatus(state: State, nowMs: number, last: LastFailure | undefined): Status['account'] {
  const { active } = state.head;
  const machine = active === null ? undefined : state.accounts.get(active.account)?.machine;
  if (active === null || machine === undefined) return null;
  const { floor, acceptedAtMs, notBeforeMs } = machine.context;
  const ageMs = acceptedAtMs === null ? null : Math.max(0, nowMs - acceptedAtMs);
  return {
    id: active.account,
    epoch: active.epoch,
    revision: floor,
    state: machine.value,
    synced: acceptedAtMs !== null,
    ageMs,
    ...(last === undefined ? {} : { failed: failedRead(active, last, notBeforeMs) }),
  };
}

function failedRead({ account, epoch }: Login, last: LastFailure, nextAttemptAt: number): FailedRead | null {
  if (last === null || last.data.account !== account || last.data.epoch !== epoch) return null;
  return { reason: last.data.reason, position: last.position, at: last.at, nextAttemptAt };
}

function wantedStatus(state: State): Status['wanted'] {
  const { active, now } = state.head;
  const context = active === null ? undefined : state.accounts.get(active.account)?.machine.context;
  if (context === undefined || (context.wish === null && context.wanted === null)) return null;
  const nextAttemptAt = context.notBeforeMs > now ? context.notBeforeMs : null;
  return {
    since: context.wish ?? context.wanted?.position ?? null,
    revision: context.wanted?.revision ?? null,
    nextAttemptAt,
  };
}
