/**
 * Sealed segments: a few hundred events of the log as one row, so that a replay pays one read, one hash and one `JSON.parse` for
 * all of them, a third of what the rows cost. Only a copy: the rows stay and the chain hangs on them. A segment is written after the
 * chain of its rows was checked, and is passed over when its hash does not hold; the rows are read instead.
 */
import { hash } from 'node:crypto';
import type { ChainPoint } from './chain.ts';
import type { RawEvent } from './parse.ts';
import type { StoredRow } from './sqliteSchema.ts';

const SEGMENT_EVENTS = 600;
/** Of payloads, so that a body stays below 128 KiB: V8 maps every string beyond that by itself, which costs more than to parse it. */
const SEGMENT_CHARACTERS = 64 * 1024;

/** The events after one link up to another. `hash` is over all the rest. */
export interface Segment {
  readonly first: number;
  readonly last: number;
  /** Link before the first event, and on the last one. */
  readonly before: string;
  readonly link: string;
  readonly hash: string;
  /** JSON: the words, then of each event [type, data, id, at, cause, schema, rules], type and rules being places among the words. */
  readonly body: string;
}

type Body = readonly [words: readonly string[], events: readonly SealedEvent[]];
type SealedEvent = readonly [
  type: number,
  data: Readonly<Record<string, unknown>> | null,
  id: string,
  at: number,
  cause: number | null,
  schema: number,
  rules: number,
];

/**
 * Cuts checked rows into segments, each of whole batches. What is too short for one at the end is left for another time.
 * `runs` are those of `verifiedRows` after `start`.
 */
export function* segmentsOf(
  runs: Iterable<readonly StoredRow[]>,
  start: ChainPoint,
  word: (number: number) => string,
): Generator<Segment, void, void> {
  let before = start.link;
  let rows: StoredRow[] = [];
  let characters = 0;
  for (const run of runs)
    for (const row of run) {
      rows.push(row);
      characters += row[9]?.length ?? 0;
      if (row[7] === null || (rows.length < SEGMENT_EVENTS && characters < SEGMENT_CHARACTERS)) continue;
      yield segmentOf(rows, before, row[7], word);
      [before, rows, characters] = [row[7], [], 0];
    }
}

/** The payloads go in as text; their hashes were checked a moment ago. */
function segmentOf(
  rows: readonly StoredRow[],
  before: string,
  link: string,
  word: (number: number) => string,
): Segment {
  const words: string[] = [];
  const placeOf = (number: number): number => {
    const place = words.indexOf(word(number));
    return place >= 0 ? place : words.push(word(number)) - 1;
  };
  const events = rows.map(([, id, at, cause, type, schema, rules, , , payload]) => {
    return `[${placeOf(type)},${payload},"${id}",${at},${cause},${schema},${placeOf(rules)}]`;
  });
  const body = `[${JSON.stringify(words)},[${events.join(',')}]]`;
  const segment = { first: rows[0]![0], last: rows.at(-1)![0], before, link, body };
  return { ...segment, hash: hashSegment(segment) };
}

/** Whether a segment is as it was written. */
export function holds(segment: Segment): boolean {
  return hashSegment(segment) === segment.hash;
}

/** The events of a segment that holds. */
export function* openSegment({ first, body }: Segment): Generator<RawEvent, void, void> {
  const [words, events] = JSON.parse(body) as Body;
  for (let index = 0; index < events.length; index++) {
    const event = events[index]!;
    yield {
      position: first + index,
      type: words[event[0]]!,
      data: event[1],
      id: event[2],
      at: event[3],
      cause: event[4],
      schema: event[5],
      rules: words[event[6]]!,
    };
  }
}

function hashSegment({ first, last, before, link, body }: Omit<Segment, 'hash'>): string {
  const bodyHash = hash('sha256', body, 'hex');
  return hash('sha256', `segment ${first} ${last} ${before} ${link} ${bodyHash}`, 'hex');
}
