/**
 * A state put by with its place in the log, so that a start need not fold what was folded before. A cache and nothing else: it may be
 * lost, it is dropped when anything about it is in doubt, and it says nothing that the log does not say. DESIGN 5.6.
 */
import { hash } from 'node:crypto';
import { eventTypes, RULES, SCHEMA } from '../events/index.ts';
import { accountDeadline, accountTable, matrixOf, routeDeadline, routeTable } from '../machines/index.ts';
import { decodeColumns } from './columnReader.ts';
import { encodeColumns } from './columns.ts';
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
const FORMAT = 2;

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
  readonly routes: readonly RouteRecord[];
  readonly anomalies: readonly (readonly [string, Anomaly])[];
  readonly foreign: readonly (readonly [string, number])[];
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
    routes: [...allRoutes(state)],
    anomalies: [...state.anomalies],
    foreign: [...state.foreign],
  };
  return encodeColumns(kept);
}

/** The state that was put by. *Errors*: anything, for bytes that are not a whole checkpoint of this version. */
export function decodeCheckpoint(bytes: Uint8Array): Restored {
  const kept = decodeColumns(bytes) as Kept;
  const state = initialState();
  state.head = kept.head;
  fillMap(state.connectors, kept.connectors);
  fillMap(state.anomalies, kept.anomalies);
  fillMap(state.foreign, kept.foreign);
  for (const record of kept.accounts) state.accounts.set(record.account, record);
  for (const record of kept.routes) routesOf(state, record.account ?? '').set(record.connector, record);
  noteDeadlines(state);
  const hasher = new StateHasher(state, kept.lanes);
  if (hasher.hash() !== kept.stateHash) throw new RangeError('not a checkpoint: its parts do not belong together');
  return { state, hasher };
}

function fillMap<K, V>(map: Map<K, V>, entries: readonly (readonly [K, V])[]): void {
  for (const [key, value] of entries) map.set(key, value);
}

function routesOf(state: State, account: string): Map<string, RouteRecord> {
  const found = state.routes.get(account) ?? new Map<string, RouteRecord>();
  state.routes.set(account, found);
  return found;
}

/** Deadlines are an index over the records, and made anew from them. */
function noteDeadlines(state: State): void {
  for (const { account, machine } of state.accounts.values())
    noteAlarm(state, accountDeadline(machine.context, state.head.now), account, null);
  for (const { account, connector, machine } of allRoutes(state))
    noteAlarm(state, routeDeadline(machine.context), account, connector);
}

function noteAlarm(state: State, atMs: number | null, account: string | null, connector: string | null): void {
  if (atMs !== null) state.deadlines.note({ atMs, account, connector });
}
