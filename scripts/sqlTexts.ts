/**
 * Every statement that runs on a log file, typed and written by Kysely. `npm run generate` puts the texts into src/, so that opening a log
 * does not load Kysely.
 */
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Compilable } from 'kysely';
import type { LogTables } from '../src/events/sqliteSchema.ts';
import type { Artefact } from './artefacts.ts';

/** The order is that of `StoredRow`. */
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
const sqlTexts = {
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
  segmentBefore: text(
    write.selectFrom('segments').select('first').where('first', '<=', 0).orderBy('first', 'desc').limit(1),
  ),
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
  /** Copies alone: the rows have what they say. */
  deleteUnpackedParts: text(write.deleteFrom('segmentParts').where('segment', '=', 0).where('packed', 'is', null)),
  /** Which segment the last part before a position says that it belongs to. */
  segmentOfPart: text(
    write.selectFrom('segmentParts').select('segment').where('first', '<=', 0).orderBy('first', 'desc').limit(1),
  ),
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

export const sqlArtefact = (): Artefact => ({
  path: 'src/events/sqlTexts.gen.ts',
  text: `// Generated by \`npm run generate\` from scripts/sqlTexts.ts.\nexport const sqlTexts = ${JSON.stringify(sqlTexts, null, 2)} as const;\n`,
});
