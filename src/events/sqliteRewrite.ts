/**
 * What becomes of rows that are written: they are sealed into segments, the segments packed, and a payload forgotten. None of it
 * changes what the log says otherwise, and its chain goes on to hold.
 */
import { BrokenChain, hashPayload } from './chain.ts';
import { LogUnavailable, LogUnreadable } from './log.ts';
import { dropCheckpoints } from './sqliteCheckpoints.ts';
import type { Connection } from './sqliteConnection.ts';
import { emptyWal, type OwnedConnection } from './sqliteOwner.ts';
import { isPacked, packSegment, unpackSegment } from './sqlitePacks.ts';
import type { SqliteReader } from './sqliteReader.ts';
import { COMPACTED_FORMAT } from './sqliteSchema.ts';
import { holds, type SealedSegment } from './sqliteSegments.ts';
import { bytesOf } from './storeFile.ts';

/** Segments that are sealed in one go at most: it must not hold up a turn. */
const REST_SEGMENTS = 5;

/** A log file and its owner's way to it. */
export interface OwnedFile {
  readonly path: string;
  readonly salt: string;
  readonly owned: OwnedConnection;
  readonly reader: SqliteReader;
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

/** Seals the next segments, and says whether there are more. */
export function seal({ owned, reader }: OwnedFile): boolean {
  let sealed = 0;
  for (const segment of reader.sealable()) {
    if (sealed++ === REST_SEGMENTS) break;
    owned.write((connection) => {
      connection.begin.run();
      putSegment(connection, segment);
      connection.commit.run();
    });
  }
  owned.write(emptyWal);
  return sealed > REST_SEGMENTS;
}

/** See `SqliteLog.compact`. */
export function compact(file: OwnedFile, proof: () => string): Compaction {
  const bytesBefore = bytesOf(file.path);
  // First of all, as a log that does not hold is evidence, and stays as it is.
  const before = proven(file, proof);
  while (seal(file));
  const segments = file.owned.write((connection) => {
    connection.begin.run();
    const packed = pack(file, connection);
    if (proven(file, proof) !== before)
      throw new LogUnreadable(`${file.path} would say something else once compacted: it is as before, report it`);
    connection.commit.run();
    return packed;
  });
  const settled = shrink(file);
  return { segments, bytesBefore, bytesAfter: bytesOf(file.path), settled };
}

/** What the log says: its chain, which binds every payload, and what a fold makes of it. *Errors*: {@link BrokenChain}. */
function proven({ reader }: OwnedFile, proof: () => string): string {
  const { broken, ...chain } = reader.verify();
  if (broken !== null) throw new BrokenChain(broken.position, broken.reason);
  return JSON.stringify([chain, proof()]);
}

function pack({ reader }: OwnedFile, connection: Connection): number {
  const { length } = connection.unpackedSegments.all().filter((first) => {
    // One at a time: together they are as large as the log.
    const segment = reader.segmentAt(first);
    return segment !== undefined && packSegment(connection, segment);
  });
  if (length > 0) connection.db.pragma(`user_version = ${COMPACTED_FORMAT}`);
  return length;
}

/** What was packed is packed by now, whatever becomes of this. Says whether the file is as small as it gets. */
function shrink({ path, owned }: OwnedFile): boolean {
  try {
    return owned.write((connection) => {
      // First of all it may need the room that the packs have taken up there.
      emptyWal(connection);
      connection.db.exec('vacuum');
      return emptyWal(connection);
    });
  } catch (error) {
    if (!(error instanceof LogUnavailable)) throw error;
    const next = 'free space there and in the folder for temporary files, then compact it again';
    throw new LogUnavailable(`${path} is packed, but not smaller yet (${error.message}): ${next}`, { cause: error });
  }
}

/** See `SqliteLog.redact`. */
export function redact(file: OwnedFile, position: number): boolean {
  const { owned, reader } = file;
  return owned.write((connection) => {
    // They were folded from what is to be forgotten.
    dropCheckpoints(connection);
    connection.begin.run();
    const segment = reader.segmentAt(position);
    if (segment !== undefined) dropSegment(connection, segment);
    dropUnclaimed(file, connection, position);
    forget(file, connection, position);
    const again = segment && sealedAgain(file, segment);
    if (again !== undefined) putSegment(connection, again);
    connection.commit.run();
    return emptyWal(connection);
  });
}

function forget({ salt }: OwnedFile, connection: Connection, position: number): void {
  const row = connection.eventsFrom.get(position, 1)!;
  if (isPacked(row)) throw new BrokenChain(position, 'its pack is lost');
  if (row[9] !== null) connection.redact.run(hashPayload(salt, row[9]), null, position);
}

/** What is to be forgotten may lie in a part whose segment was lost, or is damaged and says that it ends before. */
function dropUnclaimed({ reader }: OwnedFile, connection: Connection, position: number): void {
  const first = connection.segmentOfPart.get(position, 1);
  if (first === undefined) return;
  const segment = reader.segmentFrom(first);
  // Then it is a neighbour, and says where it ends.
  if (segment?.first === first && holds(segment)) return;
  connection.deleteUnpackedParts.run(first);
}

/** Rows that do not hold are left unsealed: that somebody damaged one is no reason to keep the payload of another. */
function sealedAgain({ reader }: OwnedFile, segment: SealedSegment): SealedSegment | undefined {
  try {
    return reader.sealedAgain(segment);
  } catch (error) {
    if (error instanceof BrokenChain) return undefined;
    throw error;
  }
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
