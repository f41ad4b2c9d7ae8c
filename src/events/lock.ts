/**
 * One owner for a log: an exclusive transaction held open on a small second SQLite file. Why not something simpler: Node has no
 * flock; a file with a process id outlives the process and the id is given again; a timestamp lies when the machine sleeps. This
 * one is let go by the kernel when the process ends, however it ends.
 */
import Database from 'better-sqlite3';
import { LogConflict } from './log.ts';
import { codeOf, logError } from './logError.ts';

/** Takes the lock at `path` (an empty file that exists) or throws {@link LogConflict} at once. The result lets it go. */
export function acquireLock(path: string): () => void {
  const db = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    // Nothing is ever written, and without this an empty journal would lie about after a kill.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    throw codeOf(error)?.startsWith('SQLITE_BUSY') === true ? held(path) : logError(error, path);
  }
  return () => db.close();
}

function held(path: string): LogConflict {
  return new LogConflict(
    `another running process owns the log (${path} is locked): stop that process, or only read the log meanwhile`,
  );
}
