/**
 * reconcile/ answers "what is, what may be seen, what is owed". This file is the state: everything that decides what happens next,
 * folded from the log and from nothing else (law L13).
 *
 * Imports events and machines. The container is changed in place by `evolve`; the records in it are replaced, never mutated, so
 * that a step can be compared by identity and taken back. Never reads a clock, draws a number or waits.
 */
import { accountTable, routeTable, type AccountStanding, type Device, type RouteStanding } from '../machines/index.ts';
import type { Stamp, Uint64 } from '../events/index.ts';
import { LateMap } from './columnReader.ts';
import { HeapDeadlines, type Deadlines } from './deadlines.ts';

/** An open client behind a route, as its outcome reported it. */
export interface Handle {
  readonly generation: string;
  readonly epoch: number;
  readonly tools: { readonly count: number; readonly digest: string };
}

/** The projector's memory of one route: nothing older than this is ever shown. Never lowered within a line, not even on logout. */
export interface Fence {
  readonly stamp: Stamp;
  readonly connectionVersion: Uint64;
  /** The connection that the version belongs to, and how often its high-water had fallen; another one starts anew. */
  readonly connectionIdHash: string | null;
  readonly falls: number;
}

/** Everything held of one account + connector; `account` null: a route of this device. */
export interface RouteRecord {
  readonly account: string | null;
  readonly connector: string;
  readonly machine: RouteStanding;
  readonly handles: readonly Handle[];
  readonly fence: Fence | null;
  /** Position of the event that last changed the machine's state. */
  readonly since: number;
  /** Position of the event that opened or lost the newest handle; 0: none yet. */
  readonly handledAt: number;
}

export interface AccountRecord {
  readonly account: string;
  /** Order of first appearance in the log: the account's name for the state hash, so that redaction does not change it. */
  readonly ordinal: number;
  readonly machine: AccountStanding;
  readonly since: number;
}

/** Something that a truthful world would not have done. Counted, shown in `status`, never acted on by itself. */
export interface Anomaly {
  readonly type: AnomalyType;
  readonly account: string | null;
  readonly connector: string | null;
  readonly count: number;
  readonly lastPosition: number;
}

export type AnomalyType =
  | 'revision-regressed'
  | 'revision-torn'
  | 'server-epoch-regressed'
  | 'server-line-adopted'
  | 'read-before-reset'
  | 'version-regressed'
  | 'entry-unreadable'
  | 'hint-unreached'
  | 'fence-refused'
  | 'epoch-reused'
  | 'install-failed'
  | 'newer-event';

export interface Installed {
  readonly device: Device;
  /** Boot in which the device last said so: facts are logged again after every start. */
  readonly boot: number;
}

/** The scalars, replaced together so that a turn can be taken back. */
export interface Head {
  readonly position: number;
  readonly now: number;
  /** Highest epoch number given out, for logins and boots alike. */
  readonly epochs: number;
  /** Epoch of the routes of this device; 0 before the first start. */
  readonly boot: number;
  /** Position of the start that began it. For people: nothing is decided by it, so it is no part of the state hash. */
  readonly bootAt: number;
  readonly active: { readonly account: string; readonly epoch: number; readonly at: number } | null;
}

export interface State {
  head: Head;
  readonly connectors: Map<string, Installed>;
  readonly accounts: Map<string, AccountRecord>;
  /** Account (empty: this device) → connector → record. */
  readonly routes: Map<string, Map<string, RouteRecord>>;
  readonly anomalies: Map<string, Anomaly>;
  /** Connectors that a row of a newer version speaks about: withheld until a newer program reads the log. */
  readonly foreign: Map<string, number>;
  readonly deadlines: Deadlines;
}

export type RouteKey = string;

/** One text for one route. A connector's id never holds a slash, so two routes never share it. */
export const routeKey = (account: string | null, connector: string): RouteKey => `${account ?? ''}/${connector}`;

export const initialState = (deadlines: Deadlines = new HeapDeadlines()): State => ({
  head: { position: 0, now: 0, epochs: 0, boot: 0, bootAt: 0, active: null },
  connectors: new Map(),
  accounts: new Map(),
  routes: new Map(),
  anomalies: new Map(),
  foreign: new Map(),
  deadlines,
});

const NO_HANDLES: readonly Handle[] = [];

export const newRoute = (account: string | null, connector: string, position: number): RouteRecord => ({
  account,
  connector,
  machine: routeTable.initial,
  handles: NO_HANDLES,
  fence: null,
  since: position,
  handledAt: 0,
});

export const newAccount = (account: string, ordinal: number, position: number): AccountRecord => ({
  account,
  ordinal,
  machine: accountTable.initial,
  since: position,
});

export const findRoute = (state: State, account: string | null, connector: string): RouteRecord | undefined =>
  state.routes.get(account ?? '')?.get(connector);

export function* allRoutes(state: State): Iterable<RouteRecord> {
  for (const ofAccount of state.routes.values()) yield* ofAccount.values();
}

/** Those with a handle. A restored state has read them, see checkpoint.ts; looking at the others would read them all. */
export function* openRoutes(state: State): Iterable<RouteRecord> {
  for (const ofAccount of state.routes.values())
    for (const route of ofAccount instanceof LateMap ? ofAccount.present() : ofAccount.values())
      if (route.handles.length > 0) yield route;
}
