/**
 * The tables of a log file, their migrations, and every statement that runs on them. Kysely types and writes the SQL, once per
 * open; better-sqlite3 runs it, as running through Kysely costs twenty times an insert.
 */
import { randomBytes } from 'node:crypto';
import {
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
  type Generated,
  type Migration,
} from 'kysely';
import type { Segment, StoredPart } from './sqliteSegments.ts';

/** `Dcpo`: tells our file from any other SQLite file. */
export const APPLICATION_ID = 0x4463706f;
/** Major versions of the file format (`user_version`); a binary refuses a greater one. A log is compacted in the second one only. */
export const FORMAT = 1;
export const COMPACTED_FORMAT = 2;

export interface LogTables {
  /**
   * `link` stands on the last event of each batch. `payloadHash` is set only where `payload` was redacted: else it follows. With
   * neither, the payload lies in a pack.
   */
  events: {
    position: number;
    id: string;
    at: number;
    cause: number | null;
    type: number;
    schema: number;
    rules: number;
    link: string | null;
    payloadHash: string | null;
    payload: string | null;
  };
  /** Words that rows refer to by number: event types and rules versions. */
  words: { number: Generated<number>; text: string };
  marks: { position: number; stateHash: string };
  /** Copies of rows, see sqliteSegments.ts, or all there is of their payloads, see sqlitePacks.ts. */
  segments: Segment;
  segmentParts: StoredPart & { segment: number };
  /** One row, made with the file: see `hashPayload`. */
  origin: { one: number; salt: string };
  /** States put by: caches, see sqliteCheckpoints.ts. `link` is the one at `position`, `digest` the hash of `bytes`. */
  checkpoints: { position: number; key: string; link: string; digest: string; bytes: Uint8Array };
}

/** Name → migration, run in the order of the names, up only. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-events': { up: createTables },
  '0002-checkpoints': { up: createCheckpoints },
  '0003-segments': { up: createSegments },
  '0004-packs': { up: addPacks },
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

/** A row of `events` as an array: objects would cost a third of a replay. The order is that of `rowColumns`. */
export type StoredRow = readonly [
  position: number,
  id: string,
  at: number,
  cause: number | null,
  type: number,
  schema: number,
  rules: number,
  link: string | null,
  payloadHash: string | null,
  payload: string | null,
];

const rowColumns = [
  'position',
  'id',
  'at',
  'cause',
  'type',
  'schema',
  'rules',
  'link',
  'payloadHash',
  'payload',
] as const;

const write = new Kysely<LogTables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** Only the text of a compiled query is used; the numbers and texts in it stand for the parameters, in order. */
const text = (query: Compilable): string => query.compile().sql;

/** Under names of our own: a result is otherwise named as the file's schema spells it, and one flipped bit there is enough. */
const named = <C extends string>(...columns: readonly C[]): `${C} as ${C}`[] =>
  columns.map((column) => `${column} as ${column}` as const);

/** SQL of every statement; parameters are positional, in the order in which they appear. */
export const sqlTexts = {
  insertEvent: text(
    write.insertInto('events').values({
      position: 0,
      id: '',
      at: 0,
      cause: 0,
      type: 0,
      schema: 0,
      rules: 0,
      link: '',
      payloadHash: '',
      payload: '',
    }),
  ),
  eventsFrom: text(
    write.selectFrom('events').select(rowColumns).where('position', '>=', 0).orderBy('position').limit(1),
  ),
  head: text(write.selectFrom('events').select(named('position', 'link')).orderBy('position', 'desc').limit(1)),
  linkBefore: text(
    write
      .selectFrom('events')
      .select(named('position', 'link'))
      .where('position', '<', 0)
      .where('link', 'is not', null)
      .orderBy('position', 'desc')
      .limit(1),
  ),
  positionOf: text(write.selectFrom('events').select('position').where('id', '=', '')),
  idsAfter: text(write.selectFrom('events').select('id').where('position', '>', 0)),
  deleteAfter: text(write.deleteFrom('events').where('position', '>', 0)),
  redact: text(write.updateTable('events').set({ payloadHash: '', payload: null }).where('position', '=', 0)),
  words: text(write.selectFrom('words').select(named('number', 'text'))),
  insertWord: text(
    write
      .insertInto('words')
      .values({ text: '' })
      .onConflict((conflict) => conflict.doNothing()),
  ),
  insertMark: text(
    write
      .insertInto('marks')
      .values({ position: 0, stateHash: '' })
      .onConflict((conflict) => conflict.doNothing()),
  ),
  marks: text(write.selectFrom('marks').select(named('position', 'stateHash')).orderBy('position')),
  segmentFrom: text(
    write
      .selectFrom('segments')
      .select(named('first', 'last', 'before', 'link', 'hash'))
      .where('first', '>=', 0)
      .orderBy('first')
      .limit(1),
  ),
  lastSegment: text(
    write.selectFrom('segments').select(['last as position', 'link as link']).orderBy('first', 'desc').limit(1),
  ),
  segmentAt: text(write.selectFrom('segments').select('first').where('first', '<=', 0).where('last', '>=', 0)),
  insertSegment: text(write.insertInto('segments').values({ first: 0, last: 0, before: '', link: '', hash: '' })),
  deleteSegment: text(write.deleteFrom('segments').where('first', '=', 0)),
  partsBetween: text(
    write
      .selectFrom('segmentParts')
      .select(named('first', 'body', 'packed'))
      .where('first', '>=', 0)
      .where('first', '<=', 0)
      .orderBy('first'),
  ),
  /** In place of one whose segment was lost. */
  insertPart: text(
    write
      .insertInto('segmentParts')
      .values({ first: 0, segment: 0, body: '' })
      .onConflict((conflict) =>
        conflict.column('first').doUpdateSet((part) => ({
          segment: part.ref('excluded.segment'),
          body: part.ref('excluded.body'),
          packed: part.ref('excluded.packed'),
        })),
      ),
  ),
  unpackedSegments: text(
    write
      .selectFrom('segments')
      .innerJoin('segmentParts', 'segmentParts.segment', 'segments.first')
      .select(['segments.first as first'])
      .distinct()
      .where('packed', 'is', null)
      .orderBy('segments.first'),
  ),
  packPart: text(write.updateTable('segmentParts').set({ body: '', packed: new Uint8Array() }).where('first', '=', 0)),
  setPayload: text(write.updateTable('events').set({ payload: '' }).where('position', '=', 0)),
  deleteParts: text(write.deleteFrom('segmentParts').where('segment', '=', 0)),
  salt: text(write.selectFrom('origin').select('salt').where('one', '=', 1)),
  checkpoints: text(
    write
      .selectFrom('checkpoints')
      .select(named('position', 'link', 'digest', 'bytes'))
      .where('key', '=', '')
      .orderBy('position', 'desc'),
  ),
  insertCheckpoint: text(
    write
      .insertInto('checkpoints')
      .values({ position: 0, key: '', link: '', digest: '', bytes: new Uint8Array() })
      .onConflict((conflict) => conflict.doNothing()),
  ),
  /** All but those of a key. */
  deleteCheckpoints: text(write.deleteFrom('checkpoints').where('key', '!=', '')),
  /** All but so many of the newest. */
  deleteOldCheckpoints: text(
    write
      .deleteFrom('checkpoints')
      .where('position', 'not in', (query) =>
        query.selectFrom('checkpoints').select('position').orderBy('position', 'desc').limit(1),
      ),
  ),
};
