/** Columns read back into the objects that they were, see columns.ts. The heart of a fast start: keep it lean. */
import { aligned, ALIGNMENT, ROW_BITS, ROW_MASK, type Column, type Header, type Table } from './columns.ts';

/** What {@link encodeColumns} was given. *Errors*: RangeError or SyntaxError for bytes that it did not write. */
export function decodeColumns(bytes: Uint8Array): unknown {
  return new Reader(bytes).root();
}

class Reader {
  readonly #header: Header;
  readonly #buffer: ArrayBufferLike;
  readonly #base: number;
  /** Rows of every table; the first one holds the words. */
  readonly #tables: (readonly unknown[])[];

  constructor(bytes: Uint8Array) {
    // A copy where it does not begin at a multiple of eight: numbers can be read in place only there.
    const { buffer, byteOffset, length } = bytes.byteOffset % ALIGNMENT === 0 ? bytes : bytes.slice();
    const said = length < ALIGNMENT ? Infinity : new DataView(buffer, byteOffset).getUint32(0, true);
    if (!(ALIGNMENT + said <= length)) throw new RangeError('not columns: cut off in the header');
    const part = (at: number, size: number): string => decoder.decode(new Uint8Array(buffer, byteOffset + at, size));
    this.#header = JSON.parse(part(ALIGNMENT, said)) as Header;
    const { textBytes, bodyBytes, words } = this.#header;
    const start = ALIGNMENT + aligned(said + textBytes);
    if (start + bodyBytes !== length) throw new RangeError('not columns: cut off in the body');
    this.#buffer = buffer;
    this.#base = byteOffset + start;
    this.#tables = [wordsOf(words, part(ALIGNMENT + said, textBytes))];
  }

  /** Every object first and its members afterwards, because a member may be a row of any table. */
  root(): unknown {
    const { tables, root } = this.#header;
    for (const table of tables) this.#tables.push(this.#emptyRows(table));
    tables.forEach((table, index) => {
      this.#fill(table, this.#tables[index + 1] ?? []);
    });
    return this.#at(root);
  }

  #emptyRows({ keys, count, lengths, columns }: Table): unknown[] {
    const rows = new Array<unknown>(count);
    if (keys === null) {
      const sizes = this.#values(lengths, count) as ArrayLike<number>;
      for (let row = 0; row < count; row++) rows[row] = new Array<unknown>(sizes[row] ?? 0);
      return rows;
    }
    const template = Object.fromEntries(keys.map((key, at) => [key, blankOf(columns[at])]));
    for (let row = 0; row < count; row++) rows[row] = { ...template };
    return rows;
  }

  #fill({ keys, columns }: Table, rows: readonly unknown[]): void {
    if (keys === null) return this.#fillLists(columns[0], rows as unknown[][]);
    keys.forEach((key, at) => {
      const column = columns[at];
      if (column === undefined || column.kind === 'same') return;
      const values = this.#values(column, rows.length);
      for (let row = 0; row < rows.length; row++) (rows as Record<string, unknown>[])[row]![key] = values[row];
    });
  }

  #fillLists(column: Column | undefined, lists: readonly unknown[][]): void {
    const count = lists.reduce((sum, { length }) => sum + length, 0);
    const items = column === undefined ? [] : this.#values(column, count);
    let next = 0;
    for (const list of lists) for (let index = 0; index < list.length; index++) list[index] = items[next++];
  }

  #values(column: Column, count: number): ArrayLike<unknown> {
    if (column.kind === 'same') return new Array<unknown>(count).fill(column.word);
    if (column.kind === 'float') return new Float64Array(this.#buffer, this.#base + column.at, count);
    const ints = new Int32Array(this.#buffer, this.#base + column.at, count);
    if (column.kind === 'int') return ints;
    const values = new Array<unknown>(count);
    for (let index = 0; index < count; index++) values[index] = this.#at(ints[index]!);
    return values;
  }

  #at(place: number): unknown {
    return this.#tables[place >>> ROW_BITS]![place & ROW_MASK];
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Words share one text: cutting them out of it costs a tenth of reading each by itself. */
function wordsOf(words: Header['words'], text: string): unknown[] {
  let at = 0;
  return words.map((word) => (typeof word === 'number' ? text.slice(at, (at += word)) : word[0]));
}

/** What stands in a row before its column is read: of the same kind, so that all rows of a table keep one hidden class. */
const blankOf = (column: Column | undefined): unknown =>
  column?.kind === 'same' ? column.word : column?.kind === 'int' ? 0 : column?.kind === 'float' ? 0.5 : null;
