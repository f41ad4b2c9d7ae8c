/** What an error of SQLite or of the file system means for a log. */
import { LogConflict, LogUnavailable, LogUnreadable } from './log.ts';

const NEXT: ReadonlyMap<string, string> = new Map([
  ['SQLITE_FULL', 'the disk is full: free some space'],
  ['ENOSPC', 'the disk is full: free some space'],
  ['SQLITE_READONLY', 'it is read-only: check who owns the file and its folder'],
  ['SQLITE_CANTOPEN', 'it cannot be opened: check who owns the file and its folder'],
  ['EACCES', 'access is denied: check who owns the file and its folder'],
  ['EPERM', 'access is denied: check who owns the file and its folder'],
  ['ENOENT', 'there is no such file: check the path'],
  ['EISDIR', 'it is a folder: name a file'],
  ['EROFS', 'the file system is read-only'],
  ['SQLITE_BUSY', 'another program holds a lock on it: close that program'],
  ['SQLITE_IOERR', 'the disk reported an error: check the disk'],
]);

/** `SQLITE_ERROR` is what our statements meet where a table or a column is not what it was. */
const UNREADABLE: ReadonlySet<string> = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR']);

/** Whether an error is one of the log's own. */
export function isLogError(error: unknown): error is LogConflict | LogUnavailable | LogUnreadable {
  return error instanceof LogConflict || error instanceof LogUnavailable || error instanceof LogUnreadable;
}

/** The typed error for what was thrown; typed errors pass. */
export function logError(error: unknown, path: string): Error {
  if (isLogError(error)) return error;
  const code = codeOf(error);
  // `ERR_`: of Node itself, as where a module of ours is missing; no disk has refused anything.
  if (code === undefined || code.startsWith('ERR_')) return error instanceof Error ? error : new Error(String(error));
  const primary = code.split('_').slice(0, 2).join('_');
  const options = { cause: error };
  if (UNREADABLE.has(primary))
    return new LogUnreadable(`${path} is damaged or no log (${code}): move it away or restore a backup`, options);
  if (primary === 'SQLITE_CONSTRAINT') return foreignWriter(path, options);
  return new LogUnavailable(`${path}: ${NEXT.get(primary) ?? NEXT.get(code) ?? 'refused'} (${code})`, options);
}

/** When rows appear that the owner did not write. */
export function foreignWriter(path: string, options?: ErrorOptions): LogConflict {
  return new LogConflict(`another program wrote to ${path}: stop it, then start again`, options);
}

/** Code of an SqliteError or a system error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
