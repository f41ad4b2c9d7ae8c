/**
 * The log on disk: SQLite in WAL mode, one owner, every commit synced before it is acknowledged. DESIGN 5.6.
 *
 * No event is ever read without its batch being checked, and `verify` checks all of them; so opening checks only the end of the chain,
 * and a long log opens as fast as a short one. After a failed write the connection is
 * given up (an fsync that failed once may report success the next time while the data is gone) and the file is opened anew.
 */
import type { Database } from 'better-sqlite3';
import { makeBatch, type Batch } from './batch.ts';
import { eventTypes, RULES, SCHEMA, type LoggedEvent, type NewEvent } from './catalogue.ts';
import { BrokenChain, hashPayload, isWord, type LogRow, type RowSource } from './chain.ts';
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
import { dropCheckpoints, loadCheckpoint, saveCheckpoint } from './sqliteCheckpoints.ts';
import { lacking, migrate } from './sqliteMigrate.ts';
import { check, emptyWal, OwnedConnection, rollBack, settle } from './sqliteOwner.ts';
import { isPacked, packSegment, unpackSegment } from './sqlitePacks.ts';
import { SqliteReader } from './sqliteReader.ts';
import { COMPACTED_FORMAT } from './sqliteSchema.ts';
import type { SealedSegment } from './sqliteSegments.ts';
import { assertStoreFile, bytesOf, prepareStoreFile } from './storeFile.ts';

/** Segments that one rest seals at most: it must not hold up a turn. */
const REST_SEGMENTS = 5;

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
   * not be made smaller, which takes as much room as it will have, in its folder and in that for temporary files.
   */
  compact(proof: (log: LogReader) => string): Compaction;
  /** Takes an event's payload out of the file for good. Its hash stays, so the chain holds; the event is read as unknown. */
  redact(position: number): void;
  /** What holds of the connection right now. */
  settings(): LogSettings;
}

/** What a compaction did. */
export interface Compaction {
  /** Sealed segments that were packed now: those of an earlier compaction stay as they are. */
  readonly segments: number;
  /** Of the file and its WAL. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** `false`: another program reads the log, and the file gets smaller once it is done. */
  readonly settled: boolean;
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
  /** Number of each word, as rows hold it. */
  readonly #numbers: ReadonlyMap<string, number>;

  constructor(path: string, connection: Connection, rules: string, unlock: () => void) {
    this.path = path;
    this.#rules = rules;
    this.#unlock = unlock;
    this.#owned = new OwnedConnection(path, connection);
    this.#reader = new SqliteReader(path, () => this.#owned.get());
    this.salt = this.#reader.salt;
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
    this.#owned.write((connection) => {
      saveCheckpoint(connection, checkpoint);
    });
  }

  loadCheckpoint(key: string): Checkpoint | undefined {
    return this.#owned.write((connection) => loadCheckpoint(connection, key));
  }

  compact(proof: (log: LogReader) => string): Compaction {
    const bytesBefore = bytesOf(this.path);
    while (this.#seal());
    const before = this.#proven(proof);
    const segments = this.#owned.write((connection) => {
      connection.begin.run();
      const packed = this.#pack(connection);
      if (this.#proven(proof) !== before)
        throw new LogUnreadable(`${this.path} would say something else once compacted: it is as before, report it`);
      connection.commit.run();
      return packed;
    });
    const settled = this.#shrink();
    return { segments, bytesBefore, bytesAfter: bytesOf(this.path), settled };
  }

  /** What was packed is packed by now, whatever becomes of this. Says whether the file is as small as it gets. */
  #shrink(): boolean {
    try {
      return this.#owned.write((connection) => {
        // First of all it may need the room that the packs have taken up there.
        emptyWal(connection);
        connection.db.exec('vacuum');
        return emptyWal(connection);
      });
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      const next = 'free space there and in the folder for temporary files, then compact it again';
      throw new LogUnavailable(`${this.path} is packed, but not smaller yet (${error.message}): ${next}`, {
        cause: error,
      });
    }
  }

  /** What the log says: its chain, which binds every payload, and what a fold makes of it. *Errors*: {@link BrokenChain}. */
  #proven(proof: (log: LogReader) => string): string {
    const { broken, ...chain } = this.verify();
    if (broken !== null) throw new BrokenChain(broken.position, broken.reason);
    return JSON.stringify([chain, proof(this)]);
  }

  #pack(connection: Connection): number {
    const { length } = connection.unpackedSegments.all().filter((first) => {
      // One at a time: together they are as large as the log.
      const segment = this.#reader.segmentAt(first);
      return segment !== undefined && packSegment(connection, segment);
    });
    if (length > 0) connection.db.pragma(`user_version = ${COMPACTED_FORMAT}`);
    return length;
  }

  redact(position: number): void {
    assertMarkable(position, this.head);
    this.#owned.write((connection) => {
      // They were folded from what is to be forgotten.
      dropCheckpoints(connection);
      connection.begin.run();
      const segment = this.#reader.segmentAt(position);
      if (segment !== undefined) dropSegment(connection, segment);
      this.#forget(connection, position);
      const again = segment && this.#reader.sealedAgain(segment);
      if (again !== undefined) putSegment(connection, again);
      connection.commit.run();
      emptyWal(connection);
    });
  }

  #forget(connection: Connection, position: number): void {
    const row = connection.eventsFrom.get(position, 1)!;
    if (isPacked(row)) throw new BrokenChain(position, 'its pack is lost');
    if (row[9] !== null) connection.redact.run(hashPayload(this.salt, row[9]), null, position);
  }

  rest(): boolean {
    try {
      return this.#seal();
    } catch (error) {
      if (isLogError(error)) return false;
      throw error;
    }
  }

  #seal(): boolean {
    let sealed = 0;
    for (const segment of this.#reader.sealable()) {
      if (sealed++ === REST_SEGMENTS) break;
      this.#owned.write((connection) => insertSegment(connection, segment));
    }
    this.#owned.write(emptyWal);
    return sealed > REST_SEGMENTS;
  }

  read(from?: number): Iterable<RecordedEvent> {
    return this.#reader.read(from);
  }

  marks(): Iterable<{ readonly position: number; readonly stateHash: string }> {
    return this.#reader.marks();
  }

  rows(): Iterable<LogRow> {
    return this.#reader.rows();
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

function insertSegment(connection: Connection, segment: SealedSegment): void {
  connection.begin.run();
  putSegment(connection, segment);
  connection.commit.run();
}

function putSegment(connection: Connection, { first, last, before, link, hash, parts }: SealedSegment): void {
  connection.insertSegment.run(first, last, before, link, hash);
  for (const part of parts) connection.insertPart.run(part.first, first, part.body);
}

function dropSegment(connection: Connection, segment: SealedSegment): void {
  unpackSegment(connection, segment);
  connection.deleteParts.run(segment.first);
  connection.deleteSegment.run(segment.first);
}

function idsOf(events: readonly NewEvent[]): readonly string[] {
  return events.map(({ id }) => id);
}
