export { openReconciler, type Reconciler, type ReconcilerOptions } from './engine.ts';
export type { Perform, PerformContext } from './performing.ts';
export {
  due,
  dueForAccount,
  dueForRoute,
  effectText,
  isDue,
  nextWake,
  type Effect,
  type FetchSnapshot,
  type RouteEffect,
} from './due.ts';
export { evolve, isNoise } from './evolve.ts';
export { project, type PublishedRoute, type RouteTable } from './project.ts';
export { LiveTable, type RouteName } from './liveTable.ts';
export { standingOf, type Reason } from './standing.ts';
export { isOfSession, reasons, reasonWords } from './reasons.ts';
export { narrate } from './narrate.ts';
export { formatInstant } from './instant.ts';
export { accountLabel, accountNamed, UnknownAccount } from './accountNames.ts';
export { explain, type Explanation, type Link } from './explain.ts';
export {
  lastFailureAfter,
  statusOf,
  routeStatus,
  type FailedRead,
  type LastFailure,
  type RouteStatus,
  type Status,
} from './status.ts';
export { StateHasher, stateHash, canonical } from './hash.ts';
export { checkpointKey, decodeCheckpoint, encodeCheckpoint, type Restored } from './checkpoint.ts';
export { restore } from './keeping.ts';
export { HeapDeadlines, ScanDeadlines, type Alarm, type Deadlines } from './deadlines.ts';
export { allRoutes, findRoute, initialState, routeKey } from './state.ts';
export type {
  AccountRecord,
  Anomaly,
  AnomalyType,
  Fence,
  Handle,
  Head,
  Installed,
  RouteKey,
  RouteRecord,
  State,
} from './state.ts';
export type { Turn } from './turn.ts';
