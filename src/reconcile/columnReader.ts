/**
 * Columns read back into the objects that they were, see columns.ts. The heart of a fast start: row by row and on demand, since
 * making the objects of 100,000 routes costs more than everything else that a start does. Keep it lean.
 */
import { aligned, ALIGNMENT, ROW_BITS, ROW_MASK, type Column, type Header, type Place, type Table } from './columns.ts';

/** A list of which each item is read when it is asked for. */
export interface LateList {
  readonly length: number;
  /** Made anew each time, but for what stands in more than one place. */
  item(index: number): unknown;
}

export interface Read {
  readonly value: unknown;
  readonly late: readonly LateList[];
}

/**
 * What {@link encodeColumns} was given. `bytes` must stay as they are while any late list is in use. *Errors*: anything, for bytes that
 * it did not write.
 */
export function decodeColumns(bytes: Uint8Array): Read {
  return new Reader(bytes).read();
}

/**
 * A map that reads each value when it is asked for, and its keys with the first one. Its methods are those of a Map, and whoever holds
 * it can't tell; only what looks behind them (`structuredClone`) would find nothing, or the numbers of rows.
 */
export class LateMap<V extends object> extends Map<string, V> {
  /** Null once they are in place. */
  #keys: LateList | null;
  /** Null once everything is read, so that the bytes can go. */
  #values: LateList | null;
  #unread: number;

  /** `values` in the order of `keys`. *Errors*: RangeError when they are not as many. */
  constructor(keys: LateList, values: LateList) {
    if (keys.length !== values.length) throw new RangeError('not a map: as many keys as values');
    super();
    this.#keys = keys;
    this.#values = values;
    this.#unread = keys.length;
  }

  /** Those values that were read or set. */
  *present(): Generator<V, void, void> {
    for (const held of super.values()) if (typeof held !== 'number') yield held;
  }

  override get size(): number {
    this.#place();
    return super.size;
  }
  override has(key: string): boolean {
    this.#place();
    return super.has(key);
  }
  override get(key: string): V | undefined {
    this.#place();
    const held: V | number | undefined = super.get(key);
    return typeof held === 'number' ? this.#read(key, held) : held;
  }
  override set(key: string, value: V): this {
    this.#place();
    return super.set(key, value);
  }
  override delete(key: string): boolean {
    this.#place();
    return super.delete(key);
  }
  override clear(): void {
    this.#keys = this.#values = null;
    super.clear();
  }
  override keys(): MapIterator<string> {
    this.#place();
    return super.keys();
  }
  override values(): MapIterator<V> {
    this.#readAll();
    return super.values();
  }
  override entries(): MapIterator<[string, V]> {
    this.#readAll();
    return super.entries();
  }
  override [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }
  override forEach(visit: (value: V, key: string, map: Map<string, V>) => void, self?: unknown): void {
    this.#readAll();
    super.forEach(visit, self);
  }

  /** Each key with the number of its row, in the order that the map had. */
  #place(): void {
    const keys = this.#keys;
    if (keys === null) return;
    this.#keys = null;
    for (let row = 0; row < keys.length; row++) super.set(keys.item(row) as string, row as unknown as V);
  }

  #read(key: string, row: number): V {
    const value = this.#values!.item(row) as V;
    super.set(key, value);
    if (--this.#unread === 0) this.#values = null;
    return value;
  }

  #readAll(): void {
    this.#place();
    if (this.#values === null) return;
    for (const [key, held] of super.entries() as Iterable<[string, V | number]>)
      if (typeof held === 'number') this.#read(key, held);
    this.#values = null;
  }
}

/** The rows of one table. */
interface Rows {
  /** Null for lists. */
  readonly keys: readonly string[] | null;
  /** A row as it is but for the columns that differ: of the same kinds, so that all rows of a table have one hidden class. */
  readonly template: object;
  readonly varying: readonly Values[];
  /** Where the items of each list begin, and where those of the last one end. */
  readonly starts: Int32Array;
  /** Rows that have been read, of a table where one of them stands in more than one place: what was one object stays one object. */
  readonly known: unknown[] | null;
}

interface Values {
  readonly key: string;
  readonly isPlace: boolean;
  /** Null for a run. */
  readonly numbers: Int32Array | Float64Array | null;
  readonly first: number;
  readonly step: number;
}

class Reader {
  readonly #header: Header;
  readonly #buffer: ArrayBufferLike;
  readonly #base: number;
  readonly #words: readonly unknown[];
  readonly #tables: readonly Rows[];

  constructor(bytes: Uint8Array) {
    // A copy where it does not begin at a multiple of eight: numbers can be read in place only there.
    const { buffer, byteOffset, length } = bytes.byteOffset % ALIGNMENT === 0 ? bytes : new Uint8Array(bytes);
    const said = length < ALIGNMENT ? Infinity : new DataView(buffer, byteOffset).getUint32(0, true);
    if (!(ALIGNMENT + said <= length)) throw new RangeError('not columns: cut off in the header');
    const part = (at: number, size: number): string => decoder.decode(new Uint8Array(buffer, byteOffset + at, size));
    this.#header = JSON.parse(part(ALIGNMENT, said)) as Header;
    const { textBytes, bodyBytes, words, tables } = this.#header;
    const start = ALIGNMENT + aligned(said + textBytes);
    if (start + bodyBytes !== length) throw new RangeError('not columns: cut off in the body');
    this.#buffer = buffer;
    this.#base = byteOffset + start;
    this.#words = wordsOf(words, part(ALIGNMENT + said, textBytes));
    this.#tables = tables.map((table) => this.#rows(table));
  }

  read(): Read {
    const { root, late } = this.#header;
    return { value: this.#at(root), late: late.map((place) => this.#lateList(place)) };
  }

  #rows({ keys, count, shared, lengths, columns }: Table): Rows {
    const starts = keys === null ? this.#starts(lengths, count) : new Int32Array(0);
    const names = keys ?? [ITEM];
    const template = Object.fromEntries(names.map((key, at) => [key, blankOf(columns[at])]));
    const size = keys === null ? (starts[count] ?? 0) : count;
    const varying = names.flatMap((key, at) => this.#values(key, columns[at], size));
    return { keys, template, varying, starts, known: shared ? new Array<unknown>(count) : null };
  }

  #starts(lengths: Column, count: number): Int32Array {
    const starts = new Int32Array(count + 1);
    const [varying] = this.#values('', lengths, count);
    const same = lengths.kind === 'same' ? Number(lengths.word) : 0;
    for (let row = 0; row < count; row++) starts[row + 1] = starts[row]! + (varying?.numbers?.[row] ?? same);
    return starts;
  }

  #values(key: string, column: Column | undefined, count: number): readonly Values[] {
    if (column === undefined || column.kind === 'same') return [];
    if (column.kind === 'run') return [{ key, isPlace: true, numbers: null, first: column.first, step: column.step }];
    const at = this.#base + column.at;
    const isFloat = column.kind === 'float';
    const numbers = isFloat ? new Float64Array(this.#buffer, at, count) : new Int32Array(this.#buffer, at, count);
    return [{ key, isPlace: column.kind === 'place', numbers, first: 0, step: 0 }];
  }

  #value({ isPlace, numbers, first, step }: Values, row: number): unknown {
    const number = numbers === null ? first + step * row : numbers[row]!;
    return isPlace ? this.#at(number) : number;
  }

  #at(place: Place): unknown {
    const row = place & ROW_MASK;
    const table = place >>> ROW_BITS;
    return table === 0 ? this.#words[row] : this.#row(this.#tables[table - 1]!, row);
  }

  #row(table: Rows, row: number): unknown {
    const known = table.known?.[row];
    if (known !== undefined) return known;
    const made = table.keys === null ? this.#list(table, row) : this.#object(table, row);
    if (table.known !== null) table.known[row] = made;
    return made;
  }

  #object({ template, varying }: Rows, row: number): unknown {
    const made: Record<string, unknown> = { ...template };
    for (const values of varying) made[values.key] = this.#value(values, row);
    return made;
  }

  #list(table: Rows, row: number): unknown[] {
    const from = table.starts[row]!;
    return Array.from({ length: table.starts[row + 1]! - from }, (_, index) => this.#item(table, from + index));
  }

  #item({ template, varying: [values] }: Rows, at: number): unknown {
    return values === undefined ? (template as Record<string, unknown>)[ITEM] : this.#value(values, at);
  }

  #lateList(place: Place): LateList {
    const table = this.#tables[(place >>> ROW_BITS) - 1]!;
    const row = place & ROW_MASK;
    const from = table.starts[row]!;
    return { length: table.starts[row + 1]! - from, item: (index) => this.#item(table, from + index) };
  }
}

/** Lists are a table of one column. */
const ITEM = 'item';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Words share one text: cutting them out of it costs a tenth of reading each by itself. */
function wordsOf(words: Header['words'], text: string): unknown[] {
  let at = 0;
  return words.map((word) => (typeof word === 'number' ? text.slice(at, (at += word)) : word[0]));
}

/** What stands in a row before its column is read. */
const blankOf = (column: Column | undefined): unknown =>
  column?.kind === 'same' ? column.word : column?.kind === 'int' ? 0 : column?.kind === 'float' ? 0.5 : null;
