/** What became of a log: opened as its owner would, read whole, and appended to once more. */
import Database from 'better-sqlite3';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  LogUnreadable,
  openSqliteLog,
  openSqliteLogReadOnly,
  type LogReader,
  type RecordedEvent,
  type SqliteLog,
} from '../../src/events/index.ts';
import { bytesAt, eventAt, eventsAfter, hashAt, KEY, type Acknowledged } from './workload.ts';

/**
 * `held`: whatever was acknowledged is there, nothing that was never appended, and the log goes on. `lost`: the same of a shorter
 * log. `detected`: it was refused as unreadable. `wrong`: anything else.
 */
export type Verdict = 'held' | 'lost' | 'detected' | 'wrong';
export interface Judged {
  readonly verdict: Verdict;
  readonly text: string;
  /** Where the log ends. */
  readonly head: number;
}

class Unlike extends Error {}
class Lost extends Error {}
/** Marks are not bound by the chain, as they are what a fold is held against: whoever folds the log meets the wrong one. */
class WrongMark extends LogUnreadable {}

export async function judge(path: string, wanted: Acknowledged): Promise<Judged> {
  let log: SqliteLog | undefined;
  try {
    log = await openSqliteLog(path);
    const { head } = log;
    compare(log, wanted);
    goesOn(log);
    if (wanted.backup !== undefined) compareBackup(path, wanted.backup);
    return { verdict: 'held', text: '', head };
  } catch (error) {
    return { ...verdictOf(error), head: log?.head ?? 0 };
  } finally {
    log?.close();
  }
}

/** The same of a file that nobody writes to: nothing is appended. */
export async function judgeReadOnly(path: string, wanted: Acknowledged): Promise<Judged> {
  let log: LogReader | undefined;
  try {
    log = await openSqliteLogReadOnly(path);
    compare(log, wanted);
    return { verdict: 'held', text: '', head: log.head };
  } catch (error) {
    return { ...verdictOf(error), head: 0 };
  } finally {
    log?.close();
  }
}

function verdictOf(error: unknown): Omit<Judged, 'head'> {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (error instanceof Lost) return { verdict: 'lost', text };
  return { verdict: error instanceof LogUnreadable ? 'detected' : 'wrong', text };
}

function compare(log: LogReader & { loadCheckpoint?: SqliteLog['loadCheckpoint'] }, wanted: Acknowledged): void {
  const report = log.verify();
  if (report.broken !== null) throw new LogUnreadable(report.broken.reason);
  compareEvents(log, wanted);
  const marks = new Map([...log.marks()].map(({ position, stateHash }) => [position, stateHash]));
  for (const [position, hash] of marks)
    if (hash !== hashAt(position)) throw new WrongMark(`mark at ${String(position)}`);
  const kept = log.loadCheckpoint?.(KEY);
  if (kept !== undefined && !Buffer.from(kept.bytes).equals(bytesAt(kept.position))) throw new Unlike('checkpoint');
  if (log.head < wanted.head) throw new Lost(`ends at ${String(log.head)}, ${String(wanted.head)} was acknowledged`);
  for (const position of wanted.marks) if (!marks.has(position)) throw new Lost(`mark at ${String(position)}`);
}

function compareEvents(log: LogReader, { redacted }: Acknowledged): void {
  let next = 1;
  for (const event of log.read()) {
    const at = String(event.position);
    if (event.position !== next || !isSame(event)) throw new Unlike(`event ${at}`);
    if (!('unknown' in event) && redacted.includes(next)) throw new Lost(`redaction of ${at}`);
    next++;
  }
  if (next - 1 !== log.head) throw new Unlike(`${String(next - 1)} events were read of ${String(log.head)}`);
}

/** Only event 3 is ever redacted. */
function isSame(event: RecordedEvent): boolean {
  const { type, id, at, cause, data } = event;
  const { data: expected, ...header } = eventAt(event.position);
  if (!isDeepStrictEqual({ type, id, at, cause }, header)) return false;
  return 'unknown' in event ? event.unknown === 'redacted' && event.position === 3 : isDeepStrictEqual(data, expected);
}

function goesOn(log: SqliteLog): void {
  const { head } = log;
  const [event] = log.append(eventsAfter(head, 1), head);
  if (event?.position !== head + 1 || log.verify().broken !== null) throw new Unlike('it does not go on');
}

/** Whether one of the copies is whole; one that was being written at the crash may lie beside it. */
function compareBackup(path: string, events: number): void {
  const folder = dirname(path);
  const copies = readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.backup-`));
  if (!copies.some((name) => isWhole(join(folder, name), events))) throw new Lost('no backup is whole');
}

function isWhole(path: string, events: number): boolean {
  const db = new Database(path);
  try {
    const found = db.prepare<[], number>('select count(*) from events').pluck().get();
    return found === events && db.pragma('integrity_check', { simple: true }) === 'ok';
  } catch {
    return false;
  } finally {
    db.close();
  }
}
