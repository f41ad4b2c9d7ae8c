/**
 * Sealed segments: a few hundred events of the log written once more as JSON, so that a replay pays one read, one hash and one
 * `JSON.parse` for all of them, a third of what their rows cost. A copy, until it is packed (sqlitePacks.ts): the rows stay and the
 * chain hangs on them. A segment is written after the chain of its rows was checked, and is passed over when it does not hold; the rows
 * are read instead.
 */
import { hash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import type { ChainPoint } from './chain.ts';
import type { RawEvent } from './parse.ts';
import { bodyOf, openBody } from './segmentBody.ts';
import type { StoredRow } from './sqliteSchema.ts';

const SEGMENT_EVENTS = 600;
/** Of payloads, so that a part stays below 128 KiB: V8 maps every string beyond that by itself, which costs more than to parse it. */
const PART_CHARACTERS = 64 * 1024;

/** The events after one link up to another: whole batches. `hash` is over all the rest and over the parts. */
export interface Segment {
  readonly first: number;
  readonly last: number;
  /** Link before the first event, and on the last one. */
  readonly before: string;
  readonly link: string;
  readonly hash: string;
}

/** Some of a segment's events, from position `first` on; `body` is as segmentBody.ts writes it. */
export interface Part {
  readonly first: number;
  readonly body: string;
}

/** A part as its row holds it: `body` is empty when it is packed, and `packed` is then its deflated text. */
export interface StoredPart extends Part {
  readonly packed: Uint8Array | null;
}

/** No part that is packed is longer: more is damage, and would only fill the memory. */
export const UNPACKED_BYTES = 64 * 1024 * 1024;

/** A pack that does not open is an empty part, of which its segment does not hold. */
export function partFrom({ first, body, packed }: StoredPart): Part {
  if (packed === null) return { first, body };
  try {
    return { first, body: inflateRawSync(packed, { maxOutputLength: UNPACKED_BYTES }).toString() };
  } catch {
    return { first, body: '' };
  }
}

export interface SealedSegment extends Segment {
  readonly parts: readonly Part[];
}

/**
 * Cuts checked rows, those of `verifiedRows` after `start`, into segments. What is too short for one at the end is left for another
 * time, unless the end is `at`: of a segment that is made anew, and may have lost a payload since.
 */
export function* segmentsOf(
  runs: Iterable<readonly StoredRow[]>,
  start: ChainPoint,
  word: (number: number) => string,
  at = Infinity,
): Generator<SealedSegment, void, void> {
  let { link: before } = start;
  let first = start.position + 1;
  let parts: Part[] = [];
  let rows: StoredRow[] = [];
  let characters = 0;
  for (const run of runs)
    for (const row of run) {
      rows.push(row);
      characters += row[9]?.length ?? 0;
      const [last, link] = [row[0], row[7]];
      const isFull = last - first + 1 >= SEGMENT_EVENTS || parts.length > 0 || last === at;
      if (characters < PART_CHARACTERS && (link === null || !isFull)) continue;
      parts.push({ first: rows[0]![0], body: bodyOf(rows, word) });
      [rows, characters] = [[], 0];
      if (link === null) continue;
      yield seal({ first, last, before, link }, parts);
      [first, before, parts] = [last + 1, link, []];
    }
}

function seal(segment: Omit<Segment, 'hash'>, parts: readonly Part[]): SealedSegment {
  return { ...segment, parts, hash: hashSegment(segment, parts) };
}

/** Whether a segment is as it was written. */
export function holds(segment: SealedSegment): boolean {
  return hashSegment(segment, segment.parts) === segment.hash;
}

/** The events of a part of a segment that holds. */
export const openPart = ({ first, body }: Part): readonly RawEvent[] => openBody(body, first);

function hashSegment({ first, last, before, link }: Omit<Segment, 'hash'>, parts: readonly Part[]): string {
  const bodies = parts.map((part) => `${part.first} ${hash('sha256', part.body, 'hex')}`);
  // Of another form, as a version before wrote it, no hash holds: its rows are read.
  return hash('sha256', `columns ${first} ${last} ${before} ${link} ${bodies.join(' ')}`, 'hex');
}
