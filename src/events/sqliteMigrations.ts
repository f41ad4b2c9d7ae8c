/** How a log file came to its tables. Loaded where one has to be migrated, and not before, as Kysely is. */
import { randomBytes } from 'node:crypto';
import { sql, type Kysely, type Migration } from 'kysely';
import type { LogTables, migrationNames } from './sqliteSchema.ts';

/** Name → migration, run in the order of the names, up only. */
export const migrations: Readonly<Record<(typeof migrationNames)[number], Migration>> = {
  '0001-events': { up: createTables },
  '0002-checkpoints': { up: createCheckpoints },
  '0003-segments': { up: createSegments },
  '0004-packs': { up: addPacks },
  '0005-columns': { up: dropSegments },
};

async function createTables(db: Kysely<LogTables>): Promise<void> {
  const strict = sql`strict`;
  await db.schema
    .createTable('words')
    .addColumn('number', 'integer', (column) => column.primaryKey())
    .addColumn('text', 'text', (column) => column.notNull().unique())
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createTable('events')
    .addColumn('position', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('cause', 'integer')
    .addColumn('type', 'integer', (column) => column.notNull())
    .addColumn('schema', 'integer', (column) => column.notNull())
    .addColumn('rules', 'integer', (column) => column.notNull())
    .addColumn('link', 'text')
    .addColumn('payloadHash', 'text')
    .addColumn('payload', 'text')
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createTable('marks')
    .addColumn('position', 'integer', (column) => column.primaryKey())
    .addColumn('stateHash', 'text', (column) => column.notNull())
    .modifyEnd(strict)
    .execute();
  await db.schema
    .createTable('origin')
    .addColumn('one', 'integer', (column) => column.primaryKey())
    .addColumn('salt', 'text', (column) => column.notNull())
    .modifyEnd(strict)
    .execute();
  await db
    .insertInto('origin')
    .values({ one: 1, salt: randomBytes(16).toString('hex') })
    .execute();
}

async function createCheckpoints(db: Kysely<LogTables>): Promise<void> {
  await db.schema
    .createTable('checkpoints')
    .addColumn('position', 'integer', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('link', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('bytes', 'blob', (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}

async function createSegments(db: Kysely<LogTables>): Promise<void> {
  await db.schema
    .createTable('segments')
    .addColumn('first', 'integer', (column) => column.primaryKey())
    .addColumn('last', 'integer', (column) => column.notNull())
    .addColumn('before', 'text', (column) => column.notNull())
    .addColumn('link', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .createTable('segmentParts')
    .addColumn('first', 'integer', (column) => column.primaryKey())
    .addColumn('segment', 'integer', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}

async function addPacks(db: Kysely<LogTables>): Promise<void> {
  await db.schema.alterTable('segmentParts').addColumn('packed', 'blob').execute();
}

/** Segments had another form before. They are copies, and the next rest makes them anew; but a pack is all there is. */
async function dropSegments(db: Kysely<LogTables>): Promise<void> {
  const packed = await db.selectFrom('segmentParts').select('first').where('packed', 'is not', null).limit(1).execute();
  if (packed.length > 0) throw new Error('it was compacted before that was released');
  await db.deleteFrom('segmentParts').execute();
  await db.deleteFrom('segments').execute();
}
