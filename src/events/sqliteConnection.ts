/** An open log file: its settings, made anew on every open, and its statements. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Statement } from 'better-sqlite3';
import type { ChainPoint } from './chain.ts';
import { LogUnavailable, LogUnreadable } from './log.ts';
import { codeOf, logError } from './logError.ts';
import { sqlTexts } from './sqlTexts.gen.ts';
import { APPLICATION_ID, COMPACTED_FORMAT, type StoredRow } from './sqliteSchema.ts';
import type { Segment, StoredPart } from './sqliteSegments.ts';
import { assertSqliteVersion } from './storeFile.ts';

const OWNER_WAIT_MS = 250;
/** Of a file that SQLite makes when nobody says otherwise. */
const PAGE_BYTES = 4_096;
const READER_WAIT_MS = 1_000;
const WAL_LIMIT_BYTES = 16 * 1024 * 1024;

/** What holds of a connection right now, read from SQLite itself. For `doctor` and tests. */
export interface LogSettings {
  readonly sqlite: string;
  readonly journalMode: string;
  /** 2 is FULL. */
  readonly synchronous: number;
  readonly format: number;
}

export interface Connection {
  readonly db: Database.Database;
  readonly insertEvent: Statement<[...StoredRow]>;
  readonly eventsFrom: Statement<[position: number, limit: number], StoredRow>;
  readonly head: Statement<[limit: 1], LinkRow>;
  readonly linkBefore: Statement<[position: number, limit: 1], LinkRow>;
  readonly positionOf: Statement<[id: string], number>;
  readonly idsAfter: Statement<[position: number], string>;
  readonly deleteAfter: Statement<[position: number]>;
  readonly redact: Statement<[hash: string, payload: null, position: number]>;
  readonly words: Statement<[], { number: number; text: string }>;
  readonly insertWord: Statement<[text: string]>;
  readonly insertMark: Statement<[position: number, stateHash: string]>;
  readonly marks: Statement<[], { position: number; stateHash: string }>;
  readonly segmentFrom: Statement<[position: number, limit: 1], Segment>;
  readonly lastSegment: Statement<[limit: 1], ChainPoint>;
  readonly segmentBefore: Statement<[position: number, limit: 1], number>;
  readonly insertSegment: Statement<[first: number, last: number, before: string, link: string, hash: string]>;
  readonly deleteSegment: Statement<[first: number]>;
  readonly partsBetween: Statement<[first: number, last: number], StoredPart>;
  readonly insertPart: Statement<[first: number, segment: number, body: string]>;
  readonly deleteParts: Statement<[segment: number]>;
  readonly deleteUnpackedParts: Statement<[segment: number]>;
  readonly segmentOfPart: Statement<[position: number, limit: 1], number>;
  readonly unpackedSegments: Statement<[], number>;
  readonly packPart: Statement<[body: '', packed: Uint8Array, first: number]>;
  readonly setPayload: Statement<[payload: string | null, position: number]>;
  readonly salt: Statement<[one: 1], string>;
  readonly begin: Statement<[]>;
  readonly commit: Statement<[]>;
}

export interface LinkRow {
  readonly position: number;
  readonly link: string | null;
}

/**
 * Opens the file. `synchronous` is set every time, as better-sqlite3 is built to fall back to NORMAL for a WAL file that exists
 * already, and NORMAL loses acknowledged events in a power cut.
 */
export function openDatabase(path: string, role: 'owner' | 'reader'): Database.Database {
  const reader = role === 'reader';
  const db = new Database(path, {
    fileMustExist: true,
    readonly: reader,
    timeout: reader ? READER_WAIT_MS : OWNER_WAIT_MS,
  });
  try {
    assertSqliteVersion(db.prepare<[], string>('select sqlite_version()').pluck().get() ?? '');
    db.pragma('trusted_schema = OFF');
    if (!reader) setDurable(db, path);
    return db;
  } catch (error) {
    db.close();
    throw logError(error, path);
  }
}

function setDurable(db: Database.Database, path: string): void {
  // Asked for all rows: the one row says `wal` before the switch is committed, and whoever stops there does not hear that it failed.
  const [mode] = db.pragma('journal_mode = WAL') as readonly { readonly journal_mode: string }[];
  if (mode?.journal_mode !== 'wal')
    throw new LogUnavailable(`${path} cannot be put into WAL mode: choose a folder on a local disk`);
  db.pragma('synchronous = FULL');
  // On macOS fsync alone stops at the drive's cache.
  db.pragma('fullfsync = ON');
  db.pragma('checkpoint_fullfsync = ON');
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  // A redacted payload must not linger in a free page.
  db.pragma('secure_delete = ON');
  // No table refers to another; checking for it would cost on every insert.
  db.pragma('foreign_keys = OFF');
}

/** All statements, at once: what owns a file must not find out in the middle of a write that a table is not there. */
export function prepareAll(db: Database.Database): Connection {
  const connection = prepareStatements(db);
  for (const name of Object.keys(connection) as (keyof Connection)[]) void connection[name];
  return connection;
}

/** The statements of a file whose tables stand, each prepared at its first use: a reader needs a third of them. */
export function prepareStatements(db: Database.Database): Connection {
  const plucked = <P extends unknown[], R>(sql: string) => db.prepare<P, R>(sql).pluck();
  return lazily<Connection>({
    db: () => db,
    insertEvent: () => db.prepare(sqlTexts.insertEvent),
    eventsFrom: () => db.prepare<[number, number], StoredRow>(sqlTexts.eventsFrom).raw(),
    head: () => db.prepare(sqlTexts.head),
    linkBefore: () => db.prepare(sqlTexts.linkBefore),
    positionOf: () => plucked(sqlTexts.positionOf),
    idsAfter: () => plucked(sqlTexts.idsAfter),
    deleteAfter: () => db.prepare(sqlTexts.deleteAfter),
    redact: () => db.prepare(sqlTexts.redact),
    words: () => db.prepare(sqlTexts.words),
    insertWord: () => db.prepare(sqlTexts.insertWord),
    insertMark: () => db.prepare(sqlTexts.insertMark),
    marks: () => db.prepare(sqlTexts.marks),
    segmentFrom: () => db.prepare(sqlTexts.segmentFrom),
    lastSegment: () => db.prepare(sqlTexts.lastSegment),
    segmentBefore: () => plucked(sqlTexts.segmentBefore),
    insertSegment: () => db.prepare(sqlTexts.insertSegment),
    partsBetween: () => db.prepare(sqlTexts.partsBetween),
    insertPart: () => db.prepare(sqlTexts.insertPart),
    deleteParts: () => db.prepare(sqlTexts.deleteParts),
    deleteUnpackedParts: () => db.prepare(sqlTexts.deleteUnpackedParts),
    segmentOfPart: () => plucked(sqlTexts.segmentOfPart),
    unpackedSegments: () => plucked(sqlTexts.unpackedSegments),
    packPart: () => db.prepare(sqlTexts.packPart),
    setPayload: () => db.prepare(sqlTexts.setPayload),
    deleteSegment: () => db.prepare(sqlTexts.deleteSegment),
    salt: () => plucked(sqlTexts.salt),
    begin: () => db.prepare('begin immediate'),
    commit: () => db.prepare('commit'),
  });
}

/** An object whose members are made when they are first looked at. */
function lazily<T extends object>(makers: { readonly [K in keyof T]: () => T[K] }): T {
  const made = {} as T;
  for (const key of Object.keys(makers) as (keyof T)[])
    Object.defineProperty(made, key, {
      configurable: true,
      enumerable: true,
      get: () => {
        const value = makers[key]();
        Object.defineProperty(made, key, { value });
        return value;
      },
    });
  return made;
}

/**
 * Refuses a file that is not ours or of a newer major, before anything may write to it. Returns the format, 0 for a new file.
 * Read through SQLite and not from the file's bytes, as closing a file drops this process's locks on it (POSIX).
 */
export function assertFormat(path: string, role: 'owner' | 'reader'): number {
  try {
    return formatOf(path);
  } catch (error) {
    const { cause } = error as Error;
    if (role === 'reader' || codeOf(cause) !== 'SQLITE_READONLY_ROLLBACK') throw error;
    assertHalfMade(path);
    rollBackJournal(path);
    return formatOf(path);
  }
}

/**
 * Our files are in WAL mode and have no journal, but for the one of a first start that was killed in the switch: a page at most, with
 * nothing on it. Any other is somebody's, or of a newer version, and not ours to roll back. Read from the bytes, as SQLite would roll
 * it back to tell; no handle of this process is open on it yet.
 */
function assertHalfMade(path: string): void {
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  readSync(file, header, 0, header.length, 0);
  closeSync(file);
  const application = header.readUInt32BE(68);
  if (application === APPLICATION_ID) assertKnown(path, header.readUInt32BE(60));
  if (application !== 0 || size > PAGE_BYTES) throw foreign(path);
}

const foreign = (path: string): LogUnreadable =>
  new LogUnreadable(`${path} is a database of another program: choose another path for the log`);

function assertKnown(path: string, format: number): void {
  if (format <= COMPACTED_FORMAT) return;
  throw new LogUnreadable(
    `${path} was written by a newer version (format ${format}, known up to ${COMPACTED_FORMAT}): upgrade; the file is untouched`,
  );
}

function formatOf(path: string): number {
  const db = openDatabase(path, 'reader');
  try {
    const [application, format] = ['application_id', 'user_version'].map((name) =>
      Number(db.pragma(name, { simple: true })),
    ) as [number, number];
    // One page may stand there without a table: WAL mode was on, and the process was killed before the first migration was through.
    if (application === 0 && db.prepare('select 1 from sqlite_master').get() === undefined) return 0;
    if (application !== APPLICATION_ID) throw foreign(path);
    assertKnown(path, format);
    return format;
  } catch (error) {
    throw logError(error, path);
  } finally {
    db.close();
  }
}

/** A handle for reading cannot. */
function rollBackJournal(path: string): void {
  const db = new Database(path, { fileMustExist: true, timeout: OWNER_WAIT_MS });
  try {
    db.pragma('user_version');
  } catch (error) {
    throw logError(error, path);
  } finally {
    db.close();
  }
}

export function settingsOf(db: Database.Database): LogSettings {
  return {
    sqlite: db.prepare<[], string>('select sqlite_version()').pluck().get() ?? '',
    journalMode: String(db.pragma('journal_mode', { simple: true })),
    synchronous: Number(db.pragma('synchronous', { simple: true })),
    format: Number(db.pragma('user_version', { simple: true })),
  };
}
