/** Brings a log file's tables up to date: up only, all steps in one transaction, after a copy of the file. */
import type Database from 'better-sqlite3';
import type { Migration } from 'kysely';
import { closeSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { LogUnavailable, LogUnreadable } from './log.ts';
import { codeOf } from './logError.ts';
import { syncFolder } from './storeFile.ts';
import { APPLICATION_ID, FORMAT, migrationNames, type LogTables } from './sqliteSchema.ts';

const MAX_BACKUPS = 100;

/**
 * Runs the migrations that the file lacks and returns their names. Steps of a newer minor that this version does not know are left
 * alone. *Errors*: {@link LogUnreadable} when a step fails; the file is then as before.
 */
export async function migrate(
  db: Database.Database,
  path: string,
  migrations?: Readonly<Record<string, Migration>>,
  format: number = FORMAT,
): Promise<readonly string[]> {
  const names = migrations === undefined ? migrationNames : Object.keys(migrations);
  const pending = lacking(db, names);
  if (pending.length === 0) return [];
  // Loaded before the transaction is opened: it holds a lock.
  const run = await migrator(db, path, migrations ?? (await import('./sqliteMigrations.ts')).migrations);
  const backup = pending.length < names.length ? backUp(db, path) : undefined;
  await inTransaction(db, backup, async () => {
    await run();
    db.pragma(`application_id = ${APPLICATION_ID}`);
    if (Number(db.pragma('user_version', { simple: true })) < format) db.pragma(`user_version = ${format}`);
  });
  // The gate of an older binary reads these two; they must not wait in the WAL.
  db.pragma('wal_checkpoint(TRUNCATE)');
  return pending;
}

async function migrator(
  db: Database.Database,
  path: string,
  migrations: Readonly<Record<string, Migration>>,
): Promise<() => Promise<void>> {
  const { Kysely, Migrator, SqliteDialect } = await import('kysely');
  // Never destroyed: that would close the connection, which belongs to the log.
  const kysely = new Kysely<LogTables>({ dialect: new SqliteDialect({ database: db }) });
  const provider = { getMigrations: (): Promise<Record<string, Migration>> => Promise.resolve({ ...migrations }) };
  return async () => {
    const { error } = await new Migrator({ db: kysely, provider }).migrateToLatest();
    if (error === undefined) return;
    if (error instanceof Error && codeOf(error) !== undefined) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new LogUnreadable(
      `${path} could not be migrated (${reason}): it is as before, use the version that wrote it`,
    );
  };
}

/** Kysely gives SQLite no transaction around migrations, so a crash between two steps would leave half a schema. */
async function inTransaction(
  db: Database.Database,
  backup: string | undefined,
  work: () => Promise<void>,
): Promise<void> {
  db.exec('begin immediate');
  try {
    await work();
    db.exec('commit');
  } catch (error) {
    if (db.inTransaction) db.exec('rollback');
    // The file is as before, and whoever tries again and again would fill the disk with copies of it.
    if (backup !== undefined) rmSync(backup, { force: true });
    throw error;
  }
}

/** Migrations that the file has not seen. */
export function lacking(db: Database.Database, names: readonly string[] = migrationNames): readonly string[] {
  const done = executed(db);
  return names.filter((name) => !done.has(name));
}

function executed(db: Database.Database): ReadonlySet<string> {
  const table = db.prepare("select 1 from sqlite_master where name = 'kysely_migration'").get();
  if (table === undefined) return new Set();
  return new Set(db.prepare<[], string>('select name from kysely_migration').pluck().all());
}

/** A whole copy beside the file, `.backup-1` and so on. An older backup is never written over. */
function backUp(db: Database.Database, path: string): string {
  for (let number = 1; number <= MAX_BACKUPS; number++) {
    const target = `${path}.backup-${number}`;
    if (!createEmpty(target)) continue;
    db.prepare('vacuum into ?').run(target);
    // The copy had a journal: should that come back after a power cut, it would undo the copy.
    syncFolder(dirname(target));
    return target;
  }
  throw new LogUnavailable(`there are ${MAX_BACKUPS} backups beside ${path}: move some away, then start again`);
}

function createEmpty(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}
