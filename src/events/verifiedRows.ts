/** Reads stored rows page by page and lets through only whole batches whose link holds. The heart of every replay: keep it lean. */
import { BrokenChain, hashPayload, headerOf, linkOf, type ChainPoint } from './chain.ts';
import { LogUnreadable } from './log.ts';
import type { StoredRow } from './sqliteSchema.ts';

/** Rows per page: long enough to pay for the query, short enough that no statement stays open across an append. */
const PAGE_ROWS = 250;

/** Where rows come from, and what is needed to hash them. */
export interface StoredRows {
  /** At most `limit` rows from a position on, in order. */
  page(from: number, limit: number): readonly StoredRow[];
  /** The word that rows refer to by number. */
  word(number: number): string;
  readonly salt: string;
}

/**
 * Yields runs of checked rows, each run ending with the last row of a batch, from after `start` to `end` (the last position of a
 * batch). *Errors*: {@link BrokenChain} at the first batch with a gap, a missing link or another hash, after all before it; and what a
 * page throws.
 */
export function* verifiedRows(
  source: StoredRows,
  start: ChainPoint,
  end: number,
): Generator<readonly StoredRow[], void, void> {
  const { salt } = source;
  let { link } = start;
  let first = start.position + 1;
  let next = first;
  let headers = '';
  let held: StoredRow[] = [];
  let atOnce = PAGE_ROWS;
  while (next <= end) {
    const rows = pageOf(source, next, Math.min(atOnce, end - next + 1));
    if (rows === undefined) {
      // Row by row, up to the one that can't be read.
      atOnce = 1;
      continue;
    }
    if (rows.length === 0) throw new BrokenChain(next, `there is no row, and the head is ${end}`);
    let whole = 0;
    let broken: LogUnreadable | undefined;
    try {
      for (let index = 0; index < rows.length; index++) {
        const row = rows[index]!;
        if (row[0] !== next) throw new BrokenChain(next, `the row is missing, next is ${row[0]}`);
        // Damage can make bytes of a text; as part of a header they would look the same.
        if (typeof row[1] !== 'string') throw new BrokenChain(next, 'the id is no text');
        next++;
        const [type, rules] = [source.word(row[4]), source.word(row[6])];
        headers += headerOf(row[1], row[2], row[3], type, row[5], rules, payloadHashOf(row, salt));
        if (row[7] === null) continue;
        link = linkOf(link, first, next - first, headers);
        if (link !== row[7]) throw new BrokenChain(first, 'the batch does not match its link');
        first = next;
        headers = '';
        whole = index + 1;
      }
    } catch (error) {
      if (!(error instanceof LogUnreadable)) throw error;
      broken = error;
    }
    if (whole > 0) yield held.length === 0 ? rows.slice(0, whole) : held.concat(rows.slice(0, whole));
    if (broken !== undefined) throw broken;
    if (whole > 0) held = rows.slice(whole);
    else held.push(...rows);
  }
  if (held.length > 0) throw new BrokenChain(first, 'the last batch has no link');
}

/** `undefined` where several rows can't be read at once, as one of them lies on a damaged page. */
function pageOf({ page }: StoredRows, from: number, limit: number): readonly StoredRow[] | undefined {
  try {
    return page(from, limit);
  } catch (error) {
    if (limit > 1 && error instanceof LogUnreadable) return undefined;
    throw error;
  }
}

function payloadHashOf(row: StoredRow, salt: string): string {
  const payload = row[9];
  if (payload !== null) return hashPayload(salt, payload);
  if (row[8] !== null) return row[8];
  throw new BrokenChain(row[0], 'the payload is gone without its hash, or its pack is damaged');
}
