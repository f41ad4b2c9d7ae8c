/**
 * Compaction. A sealed segment says everything that its rows say, so one of the two is enough: the segment's parts are deflated into
 * packs, and the payloads of its rows go. The rows keep their place, id, header and link, and the chain goes on to stand on the hash
 * of every payload, which now is worked out from the pack. So nothing that was learned is lost, and a compacted log reads, exports,
 * replays and explains itself like the one before.
 *
 * Dropping events would save more and say less: see docs/decisions/0013.
 */
import { deflateRawSync } from 'node:zlib';
import { BrokenChain } from './chain.ts';
import type { Connection } from './sqliteConnection.ts';
import type { StoredRow } from './sqliteSchema.ts';
import { holds, openPart, UNPACKED_BYTES, type Part, type SealedSegment } from './sqliteSegments.ts';

/** Whether a row's payload lies in a pack. A redacted one has its hash instead. */
export const isPacked = (row: StoredRow): boolean => row[9] === null && row[8] === null;

/** The payloads of a part, each as its row held it; `null` where it was redacted. */
export function payloadsOf(part: Part): readonly (string | null)[] {
  return openPart(part).map(({ data }) => (data === null ? null : JSON.stringify(data)));
}

/**
 * Leaves of a segment the copy alone, and says whether it did. A payload that is another text once it was parsed and written again
 * can't be had back from the copy: its segment stays as it is. To be called in a transaction, with a segment that holds.
 */
export function packSegment(connection: Connection, segment: SealedSegment): boolean {
  if (!segment.parts.every((part) => isPackable(part) && isLike(connection, part))) return false;
  for (let position = segment.first; position <= segment.last; position++) connection.setPayload.run(null, position);
  for (const { first, body } of segment.parts) connection.packPart.run('', deflateRawSync(body), first);
  return true;
}

const isPackable = ({ body }: Part): boolean => Buffer.byteLength(body) <= UNPACKED_BYTES;

function isLike({ eventsFrom }: Connection, part: Part): boolean {
  const payloads = payloadsOf(part);
  const rows = eventsFrom.all(part.first, payloads.length);
  return payloads.every((payload, index) => rows[index]?.[9] === payload);
}

/**
 * Gives its rows back what they said, where it lies in the segment alone. To be called in a transaction. *Errors*: {@link BrokenChain}
 * when it does not hold.
 */
export function unpackSegment({ eventsFrom, setPayload }: Connection, segment: SealedSegment): void {
  const { first, last, parts } = segment;
  const packed = eventsFrom.all(first, last - first + 1).filter(isPacked);
  if (packed.length === 0) return;
  if (!holds(segment)) throw new BrokenChain(first, 'the pack is damaged');
  const payloads = parts.flatMap(payloadsOf);
  for (const [position] of packed) setPayload.run(payloads[position - first]!, position);
}
