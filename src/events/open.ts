/**
 * The doors to a log on disk. They load SQLite when they are called and not before: whoever folds, replays or simulates
 * pays nothing for a database, and can do so where no native module is installed.
 */
import type { SqliteLog, SqliteLogOptions, SqliteLogReader } from './sqliteLog.ts';

/**
 * Opens or creates the log at `path`, owns it until closed, brings it up to date and checks it.
 *
 * *Errors*: LogConflict at once when another process owns it; LogUnreadable for a foreign, newer or damaged file, which stays
 * untouched; LogUnavailable when disk, folder or SQLite are not fit.
 */
export async function openSqliteLog(path: string, options: SqliteLogOptions = {}): Promise<SqliteLog> {
  return (await import('./sqliteLog.ts')).openSqliteLog(path, options);
}

/**
 * Opens the log at `path` for reading only, also while its owner writes. *Errors*: as {@link openSqliteLog}, never a conflict; and
 * LogOutdated for one that its owner has to bring up to date first.
 */
export async function openSqliteLogReadOnly(path: string): Promise<SqliteLogReader> {
  return (await import('./sqliteLog.ts')).openSqliteLogReadOnly(path);
}
