/**
 * events/ answers "what happened". Here are the catalogue of everything that can be learned, the one order of stamps, parsing and
 * upcasting, the port of the log with its logs in memory and on disk, the chain that binds a log, and the log file that travels.
 *
 * May import: zod and nanoid; better-sqlite3, kysely and pg only in the files of a log, which `open.ts` loads when a log on disk is
 * opened and not before.
 * Must never: decide anything about routes, reach the network, start a process, or give an event a field that could hold a secret.
 * Read on in catalogue.ts (the events), log.ts (what a log promises), chain.ts and sqliteLog.ts (how it keeps it).
 */
export { compareUint64, parseUint64, uint64, type Uint64 } from './uint64.ts';
export {
  closedness,
  compareStamps,
  joinEntries,
  sameEntry,
  supersedes,
  type Authorization,
  type Entry,
  type Stamp,
} from './stamp.ts';
export {
  authorizationKindSchema,
  authorizationSchema,
  catalogue,
  eventTypes,
  kindSchema,
  rejectionCodeSchema,
  RULES,
  SCHEMA,
  type EventType,
  type Fact,
  type FactOf,
  type LoggedEvent,
  type LoggedEventOf,
  type NewEvent,
  type Payload,
  type UnknownEvent,
} from './catalogue.ts';
export {
  LogConflict,
  LogOutdated,
  LogUnavailable,
  LogUnreadable,
  type Checkpoint,
  type EventLog,
  type LogReader,
  type LogReport,
  type RecordedEvent,
} from './log.ts';
export { BadEvent, isEventType, isUnknown, parseFact, parseRecorded } from './parse.ts';
export { type Upcast, type UpcastStep } from './upcast.ts';
export { BrokenChain, GENESIS, type LogRow, type RowSource } from './chain.ts';
export { memoryLog } from './memoryLog.ts';
export { openSqliteLog, openSqliteLogReadOnly } from './open.ts';
export type { Compaction } from './sqliteRewrite.ts';
export type { SqliteLog, SqliteLogOptions, SqliteLogReader } from './sqliteLog.ts';
export type { LogSettings } from './sqliteConnection.ts';
export { exportLines, LOG_FILE_VERSION, type ExportOptions } from './exportLog.ts';
export { openLogFile, type LogFile } from './logFile.ts';
export { LogFileError, type LogFileHeader } from './logFileLines.ts';
export { FileInTheWay, writeLines } from './lines.ts';
export type { Edge } from './edge.ts';
export { forwardClock, systemEdge } from './systemEdge.ts';
