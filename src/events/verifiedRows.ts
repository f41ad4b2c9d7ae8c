/** Reads stored rows page by page and lets through only whole batches whose link holds. The heart of every replay: keep it lean. */
import { BrokenChain, hashPayload, headerOf, linkOf } from './chain.ts';
import type { StoredRow } from './sqliteSchema.ts';

/** Rows per page: long enough to pay for the query, short enough that no statement stays open across an append. */
export const PAGE_ROWS = 1_000;

/** Where checking starts: the last position of a batch that is trusted, and its link. */
export interface ChainPoint {
  readonly position: number;
  readonly link: string;
}

/**
 * Yields runs of checked rows, each run ending with the last row of a batch, from after `start` to `end` (the last position of a
 * batch). *Errors*: {@link BrokenChain} at the first batch with a gap, a missing link or another hash.
 */
export function* verifiedRows(
  page: (from: number) => readonly StoredRow[],
  word: (number: number) => string,
  start: ChainPoint,
  end: number,
): Generator<readonly StoredRow[], void, void> {
  const open = { rows: [] as StoredRow[], link: start.link, first: start.position + 1, headers: '' };
  let next = start.position + 1;
  while (next <= end) {
    const rows = page(next);
    if (rows.length === 0) throw new BrokenChain(next, `there is no row, and the head is ${end}`);
    const from = open.rows.length;
    let whole = 0;
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index]!;
      if (row[0] !== next++) throw new BrokenChain(next - 1, `the row is missing, next is ${row[0]}`);
      open.headers += headerOf(row[1], row[2], row[3], word(row[4]), row[5], word(row[6]), payloadHashOf(row));
      if (row[7] === null) continue;
      const link = linkOf(open.link, open.first, row[0] - open.first + 1, open.headers);
      if (link !== row[7]) throw new BrokenChain(open.first, 'the batch does not match its link');
      open.link = link;
      open.first = next;
      open.headers = '';
      whole = index + 1;
    }
    const all = from === 0 ? rows : [...open.rows, ...rows];
    if (whole > 0) yield all.slice(0, from + whole);
    open.rows = whole > 0 ? rows.slice(whole) : [...all];
  }
  if (open.rows.length > 0) throw new BrokenChain(open.first, 'the last batch has no link');
}

function payloadHashOf(row: StoredRow): string {
  const payload = row[9];
  if (payload !== null) return hashPayload(payload);
  if (row[8] !== null) return row[8];
  throw new BrokenChain(row[0], 'the payload is gone without its hash');
}
