/**
 * The embedded store: one SQLite file, one owner. WAL and FULL, so that what was answered is on the disk; an exclusive lock that
 * the kernel releases on kill -9, so that two authorities never count revisions in one file.
 */
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, Migrator, SqliteDialect, type SqliteDatabase, type Transaction } from 'kysely';
import { migrationProvider } from './migrations.ts';
import type { Schema } from './schema.ts';

export type Tx = Transaction<Schema>;

export interface Store {
  /** Runs `work` in one transaction. Inside it, use only what it is handed: the store is one connection behind a queue. */
  readonly inTransaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** The state directory can't be used as it is; the message says what to do. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  readonly reason: 'in-use' | 'damaged' | 'newer' | 'key';
  constructor(reason: StoreRefused['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Opens or makes `authority.sqlite` in a state directory (0700); `asked` hears each statement. Throws {@link StoreRefused}. */
export const openStore = async (stateDir: string, asked?: (sql: string) => void): Promise<Store> => {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const database = openFile(join(stateDir, 'authority.sqlite'));
  const db = new Kysely<Schema>({
    dialect: new SqliteDialect({ database: keepingStatements(database) }),
    ...(asked !== undefined && { log: (event) => asked(event.query.sql) }),
  });
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { inTransaction: (work) => db.transaction().execute(work), close: () => db.destroy() };
};

const maxKept = 512;

// Preparing a statement costs more than running it; the same few are asked for with every question.
const keepingStatements = (database: Database.Database): SqliteDatabase => {
  const kept = new Map<string, Database.Statement>();
  const prepare = (sql: string): Database.Statement => {
    const made = database.prepare(sql);
    if (kept.size < maxKept) kept.set(sql, made);
    return made;
  };
  return { prepare: (sql) => kept.get(sql) ?? prepare(sql), close: () => void database.close() };
};

const openFile = (path: string): Database.Database => {
  // Made by us first, so that it is never readable by others, not even for a moment.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new Database(path, { timeout: 0 });
  try {
    for (const pragma of pragmas) database.pragma(pragma);
    database.exec('begin immediate; commit');
    check(database);
    return database;
  } catch (error) {
    database.close();
    throw refused(error, path);
  }
};

// `locking_mode` comes before WAL: then the index of the WAL lies in memory and the lock is held from the first access on.
const pragmas = [
  'locking_mode = EXCLUSIVE',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'secure_delete = ON',
  'trusted_schema = OFF',
  'journal_size_limit = 67108864',
];

const check = (database: Database.Database): void => {
  const found = database.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new StoreRefused('damaged', 'the authority store is damaged: restore it from a backup');
};

const refused = (error: unknown, path: string): Error => {
  const code = error instanceof Database.SqliteError ? error.code : '';
  if (code.startsWith('SQLITE_BUSY')) {
    return new StoreRefused(
      'in-use',
      `${path} is in use by another authority: stop it, or choose another state directory`,
    );
  }
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new StoreRefused('damaged', `${path} is damaged: restore it from a backup`);
  }
  return error instanceof Error ? error : new Error('the store could not be opened');
};

const migrate = async (db: Kysely<Schema>): Promise<void> => {
  const { error } = await new Migrator({ db, provider: migrationProvider }).migrateToLatest();
  if (error === undefined) return;
  const text = error instanceof Error ? error.message : '';
  // Kysely's words for a migration in the file that this release does not have.
  if (text.startsWith('corrupted migrations')) {
    throw new StoreRefused('newer', 'this state directory was written by a newer release: use that release');
  }
  throw error instanceof Error ? error : new Error('the store could not be brought up to date');
};
