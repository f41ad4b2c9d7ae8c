/**
 * The log on disk: SQLite in WAL mode, one owner, every commit synced before it is acknowledged. DESIGN 5.6.
 *
 * No event is ever read without its batch being checked, or the hash of the copy that was sealed from it; `verify` holds the one against
 * the other. So opening checks only the end of the chain, and a long log opens as fast as a short one. After a failed write the connection is given up (an fsync that failed once may report
 * success the next time while the data is gone) and the file is opened anew.
 */
import type { Database } from 'better-sqlite3';
import { makeBatch, type Batch } from './batch.ts';
import { eventTypes, RULES, SCHEMA, type LoggedEvent, type NewEvent } from './catalogue.ts';
import { isWord, type LogRow, type RowSource } from './chain.ts';
import { acquireLock } from './lock.ts';
import {
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
import { assertMarkable, headMoved } from './memoryLog.ts';
import { isUnknown } from './parse.ts';
import {
  assertFormat,
  openDatabase,
  prepareAll,
  prepareStatements,
  type Connection,
  type LogSettings,
} from './sqliteConnection.ts';
import { codeOf, isLogError, logError } from './logError.ts';
import { loadCheckpoint, saveCheckpoint } from './sqliteCheckpoints.ts';
import { lacking, migrate } from './sqliteMigrate.ts';
import { check, OwnedConnection, rollBack, settle } from './sqliteOwner.ts';
import { SqliteReader } from './sqliteReader.ts';
import { compact, redact, seal, type Compaction, type OwnedFile } from './sqliteRewrite.ts';
import { assertStoreFile, prepareStoreFile } from './storeFile.ts';

export interface SqliteLogOptions {
  /** Rules version stamped on every event; the catalogue's own when absent. */
  readonly rules?: string;
}

/** A log on disk that this process owns. */
export interface SqliteLog extends Required<EventLog>, RowSource {
  readonly path: string;
  /**
   * For idle moments: seals a few thousand events into segments, which are read three times as fast, and moves everything from the
   * WAL into the file. Says whether there is more to seal. Never fails: a disk that refuses is asked again at the next rest, and rows
   * that do not hold are not sealed, and left to be found by whoever reads them.
   */
  rest(): boolean;
  /**
   * Makes the file smaller without losing a word of it, see sqlitePacks.ts; takes some seconds for each hundred thousand events. `proof`
   * folds the log it is given and says what it came to. It is asked before and after, and the chain is checked both times: should
   * anything differ, nothing was done. *Errors*: {@link LogUnreadable}; {@link LogUnavailable}, also for a log that was packed and could
   * not be made smaller. It takes nearly as much room again as the file has, in its folder, and as much as the file will have in that
   * for temporary files.
   */
  compact(proof: (log: LogReader) => string): Compaction;
  /**
   * Takes an event's payload out of the file for good, not out of a backup that a migration has left beside it. Its hash stays, so the chain holds; the event is read as unknown. Says whether
   * its bytes have gone by now: where another program is reading, they go with the first rest after it is done. Until the log
   * is opened anew no state is put by.
   */
  redact(position: number): boolean;
  /** What holds of the connection right now. */
  settings(): LogSettings;
}

/** A log on disk, read beside its owner. */
export interface SqliteLogReader extends LogReader, RowSource {
  readonly path: string;
  settings(): LogSettings;
}

/** See `openSqliteLog` in open.ts, which loads this file when it is called. */
export async function openSqliteLog(path: string, options: SqliteLogOptions = {}): Promise<SqliteLog> {
  const rules = options.rules ?? RULES;
  if (!isWord(rules)) throw new RangeError('rules: expected 1 to 64 visible ASCII characters');
  const unlock = own(path);
  let db: Database | undefined;
  try {
    assertFormat(path, 'owner');
    db = openDatabase(path, 'owner');
    settle(path, { db });
    await migrate(db, path);
    return new OwnedLog(path, prepareAll(db), rules, unlock);
  } catch (error) {
    db?.close();
    unlock();
    throw logError(error, path);
  }
}

/** See `openSqliteLogReadOnly` in open.ts. This one is synchronous. */
export function openSqliteLogReadOnly(path: string): SqliteLogReader {
  assertStoreFile(path);
  try {
    if (assertFormat(path, 'reader') === 0)
      throw new LogUnreadable(`${path} is empty, no log was ever written to it: check the path`);
    const connection = readable(path, openDatabase(path, 'reader'));
    return new SqliteReader(path, () => connection);
  } catch (error) {
    throw logError(error, path);
  }
}

/** *Errors*: {@link LogOutdated}, as a reader can't migrate: that is its owner's. */
function readable(path: string, db: Database): Connection {
  try {
    if (lacking(db).length > 0) throw new LogOutdated(`${path} was written by an older version of dacapo`);
    return prepareStatements(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Readies the file and takes its lock. */
function own(path: string): () => void {
  try {
    prepareStoreFile(path);
    return acquireLock(`${path}.lock`);
  } catch (error) {
    throw logError(error, path);
  }
}

class OwnedLog implements SqliteLog {
  readonly path: string;
  readonly salt: string;
  readonly #rules: string;
  readonly #unlock: () => void;
  readonly #owned: OwnedConnection;
  readonly #reader: SqliteReader;
  readonly #file: OwnedFile;
  /** Number of each word, as rows hold it. */
  readonly #numbers: ReadonlyMap<string, number>;
  /** A payload was redacted: whoever folds along still holds what it said, and would put it by. */
  #hasForgotten = false;

  constructor(path: string, connection: Connection, rules: string, unlock: () => void) {
    this.path = path;
    this.#rules = rules;
    this.#unlock = unlock;
    this.#owned = new OwnedConnection(path, connection);
    this.#reader = new SqliteReader(path, () => this.#owned.get());
    this.salt = this.#reader.salt;
    this.#file = { path, salt: this.salt, owned: this.#owned, reader: this.#reader };
    this.#owned.acknowledged = check(path, connection);
    this.#numbers = learnWords(connection, [...eventTypes, rules]);
  }

  get head(): number {
    return this.#owned.acknowledged.position;
  }

  append(events: readonly NewEvent[], expectedHead: number = this.head): readonly LoggedEvent[] {
    const connection = this.#owned.get();
    const last = this.#owned.acknowledged;
    if (expectedHead !== last.position) throw headMoved(expectedHead, last.position);
    if (events.length === 0) return [];
    const batch = makeBatch(events, last, this.salt, this.#rules);
    try {
      this.#insert(connection, batch);
    } catch (error) {
      if (codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE') return this.#appendUnknown(connection, events);
      throw this.#owned.giveUp(error, idsOf(events));
    }
    this.#owned.acknowledged = { position: last.position + events.length, link: batch.link };
    return batch.events;
  }

  positionOf(id: string): number | undefined {
    return this.#reader.positionOf(id);
  }

  mark(position: number, stateHash: string): void {
    assertMarkable(position, this.head);
    this.#owned.write(({ insertMark }) => insertMark.run(position, stateHash));
  }

  saveCheckpoint(checkpoint: Checkpoint): void {
    assertMarkable(checkpoint.position, this.head);
    if (this.#hasForgotten) return;
    this.#owned.write((connection) => {
      saveCheckpoint(connection, checkpoint);
    });
  }

  loadCheckpoint(key: string): Checkpoint | undefined {
    return this.#owned.write((connection) => loadCheckpoint(connection, key));
  }

  compact(proof: (log: LogReader) => string): Compaction {
    return compact(this.#file, () => proof(this));
  }

  redact(position: number): boolean {
    assertMarkable(position, this.head);
    this.#hasForgotten = true;
    return redact(this.#file, position);
  }

  rest(): boolean {
    try {
      return seal(this.#file);
    } catch (error) {
      if (isLogError(error)) return false;
      throw error;
    }
  }

  read(from?: number): Iterable<RecordedEvent> {
    return this.#reader.read(from);
  }

  marks(): Iterable<{ readonly position: number; readonly stateHash: string }> {
    return this.#reader.marks();
  }

  endOf(until: number): number {
    return this.#reader.endOf(until);
  }

  rows(until?: number): Iterable<LogRow> {
    return this.#reader.rows(until);
  }

  verify(): LogReport {
    return this.#reader.verify();
  }

  settings(): LogSettings {
    return this.#reader.settings();
  }

  close(): void {
    this.rest();
    this.#owned.close();
    this.#unlock();
  }

  /** One event commits by itself: a transaction around it would only cost. */
  #insert(connection: Connection, { events, payloads, link }: Batch): void {
    const end = events.length - 1;
    const rules = this.#numbers.get(this.#rules)!;
    if (end > 0) connection.begin.run();
    for (let index = 0; index <= end; index++) {
      const { position, id, at, cause, type } = events[index]!;
      const hanging = index === end ? link : null;
      const number = this.#numbers.get(type)!;
      connection.insertEvent.run(position, id, at, cause, number, SCHEMA, rules, hanging, null, payloads[index]!);
    }
    if (end > 0) connection.commit.run();
  }

  /** The way of a batch with ids already recorded, or one id twice: the others are appended, and all are answered. */
  #appendUnknown(connection: Connection, events: readonly NewEvent[]): readonly LoggedEvent[] {
    rollBack(connection);
    const fresh = new Map<string, NewEvent>();
    for (const event of events)
      if (!fresh.has(event.id) && this.positionOf(event.id) === undefined) fresh.set(event.id, event);
    const recorded = new Map(this.append([...fresh.values()]).map((event) => [event.id, event]));
    return events.map(({ id }) => recorded.get(id) ?? this.#recorded(id));
  }

  #recorded(id: string): LoggedEvent {
    const [event] = this.read(this.positionOf(id));
    if (event === undefined || isUnknown(event))
      throw new LogConflict(`id ${id} was recorded by a newer version, or redacted: append under another id`);
    return event;
  }
}

/** Numbers of the words that this process will write, taught to the file where it lacks them. */
function learnWords(connection: Connection, wanted: readonly string[]): ReadonlyMap<string, number> {
  const { words, insertWord, begin, commit } = connection;
  const known = new Set(words.all().map(({ text }) => text));
  const missing = wanted.filter((word) => !known.has(word));
  if (missing.length > 0) begin.run();
  for (const word of missing) insertWord.run(word);
  if (missing.length > 0) commit.run();
  return new Map(words.all().map(({ text, number }) => [text, number]));
}

function idsOf(events: readonly NewEvent[]): readonly string[] {
  return events.map(({ id }) => id);
}
