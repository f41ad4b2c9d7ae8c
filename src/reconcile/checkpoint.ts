/**
 * A state put by with its place in the log, so that a start need not fold what was folded before. A cache and nothing else: it may be
 * lost, it is dropped when anything about it is in doubt, and it says nothing that the log does not say. DESIGN 5.6.
 */
import { hash } from 'node:crypto';
import { eventTypes, RULES, SCHEMA } from '../events/index.ts';
import { accountTable, matrixOf, routeTable } from '../machines/index.ts';
import { decodeColumns, LateMap, type LateList } from './columnReader.ts';
import { encodeColumns } from './columns.ts';
import { currentDeadline, type Alarm } from './deadlines.ts';
import { canonical, StateHasher } from './hash.ts';
import {
  allRoutes,
  initialState,
  type AccountRecord,
  type Anomaly,
  type Head,
  type Installed,
  type RouteRecord,
  type State,
} from './state.ts';

/** Version of what is put by. Raised with every change of {@link Kept}. */
const FORMAT = 3;

/**
 * Under which a program that knows these types of events stores a checkpoint. Rules, schema and the shape of what is folded are in it:
 * of another version nothing is found, and the log is folded. A change of the fold alone must raise RULES, as for every state hash.
 */
export const checkpointKeyOf = (types: readonly string[]): string =>
  hash(
    'sha256',
    canonical([
      ...[FORMAT, RULES, SCHEMA, matrixOf(routeTable), matrixOf(accountTable)],
      ...[Object.keys(routeTable.initial.context), Object.keys(accountTable.initial.context)],
      // What this version passed over as unknown, a newer one must fold.
      types,
    ]),
    'hex',
  );

export const checkpointKey: string = checkpointKeyOf(eventTypes);

interface Kept {
  readonly stateHash: string;
  readonly lanes: readonly number[];
  readonly head: Head;
  readonly connectors: readonly (readonly [string, Installed])[];
  readonly accounts: readonly AccountRecord[];
  /** By account, in the order of the late lists: connectors and records of the first one, of the second, … */
  readonly routes: readonly KeptRoutes[];
  /** Deadlines are an index over the records; kept, because making it anew would read all of them. */
  readonly alarms: readonly Alarm[];
  readonly anomalies: readonly (readonly [string, Anomaly])[];
  readonly foreign: readonly (readonly [string, number])[];
}

interface KeptRoutes {
  readonly account: string;
  /** Those that have a handle: a start closes them all, and is to find them without reading the others. */
  readonly open: readonly string[];
}

/** A state, and the hasher that goes on from it. */
export interface Restored {
  readonly state: State;
  readonly hasher: StateHasher;
}

/** `hasher` is the one that follows `state`. *Errors*: TypeError or RangeError for a state that can't be put by. */
export function encodeCheckpoint(state: State, hasher: StateHasher): Uint8Array<ArrayBuffer> {
  const kept: Kept = {
    stateHash: hasher.hash(),
    lanes: hasher.lanes(),
    head: state.head,
    connectors: [...state.connectors],
    accounts: [...state.accounts.values()],
    routes: Array.from(state.routes, keptRoutes),
    alarms: alarmsOf(state),
    anomalies: [...state.anomalies],
    foreign: [...state.foreign],
  };
  const late = [...state.routes.values()].flatMap((routes) => [[...routes.keys()], [...routes.values()]]);
  return encodeColumns(kept, late);
}

function keptRoutes([account, routes]: readonly [string, ReadonlyMap<string, RouteRecord>]): KeptRoutes {
  const open = [...routes.values()].filter(({ handles }) => handles.length > 0);
  return { account, open: open.map(({ connector }) => connector) };
}

function alarmsOf(state: State): readonly Alarm[] {
  const names = [...state.accounts.keys()].map((account) => ({ account, connector: null }));
  return [...names, ...allRoutes(state)].flatMap(({ account, connector }) => {
    const atMs = currentDeadline(state, account, connector);
    return atMs === null ? [] : [{ atMs, account, connector }];
  });
}

/**
 * The state that was put by. Routes are read when somebody asks for them, so `bytes` must stay as they are, and that they are those
 * which were put by is for the log to know. *Errors*: anything, for bytes that are not a checkpoint of this version.
 */
export function decodeCheckpoint(bytes: Uint8Array): Restored {
  const { value, late } = decodeColumns(bytes);
  const kept = value as Kept;
  const state = initialState();
  state.head = kept.head;
  fillMap(state.connectors, kept.connectors);
  fillMap(state.anomalies, kept.anomalies);
  fillMap(state.foreign, kept.foreign);
  for (const record of kept.accounts) state.accounts.set(record.account, record);
  kept.routes.forEach(({ account, open }, index) => {
    state.routes.set(account, lateRoutes(late[2 * index]!, late[2 * index + 1]!, open));
  });
  for (const alarm of kept.alarms) state.deadlines.note(alarm);
  const hasher = new StateHasher(state, kept.lanes);
  if (hasher.hash() !== kept.stateHash) throw new RangeError('not a checkpoint: its parts do not belong together');
  return { state, hasher };
}

function fillMap<K, V>(map: Map<K, V>, entries: readonly (readonly [K, V])[]): void {
  for (const [key, value] of entries) map.set(key, value);
}

function lateRoutes(connectors: LateList, records: LateList, open: readonly string[]): LateMap<RouteRecord> {
  const routes = new LateMap<RouteRecord>(connectors, records);
  for (const connector of open) routes.get(connector);
  return routes;
}
