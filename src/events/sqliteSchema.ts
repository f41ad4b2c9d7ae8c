/**
 * The tables of a log file as types, and what tells its format. Kysely types and writes the SQL, better-sqlite3 runs it: running through
 * Kysely costs twenty times an insert, and loading it more than half of the opening of a log. So the statements are written when the code is
 * generated (scripts/sqlTexts.ts → sqlTexts.gen.ts), and Kysely is loaded only where a file has to be migrated.
 */
import type { Generated } from 'kysely';
import type { Segment, StoredPart } from './sqliteSegments.ts';

/** `Dcpo`: tells our file from any other SQLite file. */
export const APPLICATION_ID = 0x4463706f;
/**
 * Major versions of the file format (`user_version`); a binary refuses a greater one. A log is compacted in the greater one only. (2 was
 * that of packs in another form, which no release wrote.)
 */
export const FORMAT = 1;
export const COMPACTED_FORMAT = 3;

/** What a file has to have seen, in this order; see sqliteMigrations.ts. */
export const migrationNames = [
  '0001-events',
  '0002-checkpoints',
  '0003-segments',
  '0004-packs',
  '0005-columns',
] as const;

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

/** A row of `events` as an array: objects would cost a third of a replay. The order is that of `rowColumns` in scripts/sqlTexts.ts. */
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
