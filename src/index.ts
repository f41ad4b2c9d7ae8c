/**
 * dacapo: what a daemon embeds. Open a log, open a reconciler on it, hand in what you learn, and show what its table says may be
 * seen; your `perform` opens and closes routes and fetches snapshots. `examples/embed.ts` does all of it in forty lines.
 *
 * Curated: every name here is a promise (SemVer). The rooms' own doors (`dacapo/events`, `dacapo/machines`, `dacapo/reconcile`,
 * `dacapo/replay`, `dacapo/simulate`) hold more, and may change more. Loading this loads no database: a log on disk does, when it
 * is opened.
 */

// What was learned, and where it is kept.
export {
  BadEvent,
  BrokenChain,
  LogConflict,
  LogOutdated,
  LogFileError,
  LogUnavailable,
  LogUnreadable,
  exportLines,
  memoryLog,
  openLogFile,
  openSqliteLog,
  openSqliteLogReadOnly,
  parseFact,
  parseUint64,
  systemEdge,
  uint64,
  writeLines,
  type Edge,
  type EventLog,
  type Fact,
  type FactOf,
  type LogFile,
  type LogReader,
  type LoggedEvent,
  type NewEvent,
  type RecordedEvent,
  type SqliteLog,
  type Stamp,
  type Uint64,
} from './events/index.ts';

// What should be.
export { accountTable, matrixOf, mermaidOf, routeTable } from './machines/index.ts';

// What is, what may be seen, what is owed.
export {
  openReconciler,
  reasons,
  type Effect,
  type Explanation,
  type Perform,
  type PerformContext,
  type PublishedRoute,
  type Reason,
  type Reconciler,
  type ReconcilerOptions,
  type RouteStatus,
  type RouteTable,
  type Status,
} from './reconcile/index.ts';

// The same core, played again.
export { replay, transcript, whyFrom, type Replay } from './replay/index.ts';
