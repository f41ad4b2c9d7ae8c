/**
 * Plain immutable data written as columns: one table for each shape of object, one column for each key, every word and every shared
 * object once. Why not JSON: the keys of 100,000 records of twenty fields are most of its text, and reading them back most of a
 * start. What was one object stays one object, so that identity says "nothing changed" as before.
 *
 * Knows null, booleans, finite numbers but for a lone -0, strings, arrays and plain objects without cycles. Numbers stand in the byte order of the
 * machine: this is the format of a cache, not of something that travels. Read back by columnReader.ts.
 */

export type Word = string | number | boolean | null;

/**
 * A column as the header describes it. `at` counts bytes from the beginning of the body. A run is `first` in the first row and `step`
 * more in each one after: what each row has for itself, and what all of them share.
 */
export type Column =
  | { readonly kind: 'same'; readonly word: Word }
  | { readonly kind: 'run'; readonly first: Place; readonly step: number }
  | { readonly kind: 'int' | 'float' | 'place'; readonly at: number };

export interface Table {
  /** Names of the columns; `null` for arrays, whose items follow one another in one column. */
  readonly keys: readonly string[] | null;
  readonly count: number;
  /** Whether one of its rows stands in more than one place. */
  readonly shared: boolean;
  /** Of arrays, how many items each has. */
  readonly lengths: Column;
  readonly columns: readonly Column[];
}

export interface Header {
  /** Words that are not strings, as they are; of strings their length in the text that follows the header. */
  readonly words: readonly (readonly [Word] | number)[];
  readonly textBytes: number;
  readonly tables: readonly Table[];
  readonly root: Place;
  /** Lists of which each item is read when it is asked for. */
  readonly late: readonly Place[];
  readonly bodyBytes: number;
}

/** Where a value stands: its table, and its row in the lower bits. Table 0 holds the words. */
export type Place = number;
export const ROW_BITS = 24;
const MAX_ROWS = 1 << ROW_BITS;
export const ROW_MASK = MAX_ROWS - 1;
const MAX_TABLES = 1 << 7;

/** Everything begins at a multiple of this, so that the body can be read in place. */
export const ALIGNMENT = 8;
export const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/**
 * `late` are lists whose items can be read one by one. *Errors*: TypeError for what is not plain data; RangeError for more than 16
 * million objects of a shape.
 */
export function encodeColumns(value: unknown, late: readonly (readonly unknown[])[] = []): Uint8Array<ArrayBuffer> {
  const registry = new Registry();
  const root = registry.placeOf(value);
  const lists = late.map((list) => registry.placeOf(list));
  const body = new Body(registry);
  const tables = registry.tables.map((table) => body.table(table));
  // Last, because a column may name words that nothing named before.
  const text = textOf(registry.words);
  const words = registry.words.map((word) => (typeof word === 'string' ? word.length : ([word] as const)));
  const header: Header = { words, textBytes: text.length, tables, root, late: lists, bodyBytes: body.bytes };
  return joined(new TextEncoder().encode(JSON.stringify(header)), text, body);
}

/** All strings as one text. Half a surrogate pair would not survive UTF-8: whoever holds one keeps no checkpoint. */
function textOf(words: readonly Word[]): Uint8Array {
  const text = words.filter((word) => typeof word === 'string').join('');
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('half a surrogate pair is not plain data');
  return new TextEncoder().encode(text);
}

interface Rows {
  readonly keys: readonly string[] | null;
  readonly rows: object[];
  shared: boolean;
}

/** Every object of a value, each once, by shape. */
class Registry {
  readonly words: Word[] = [];
  readonly tables: Rows[] = [];
  readonly #words = new Map<unknown, number>();
  readonly #places = new Map<object, Place>();
  readonly #bySize = new Map<number, readonly number[]>();

  placeOf(value: unknown): Place {
    if (typeof value !== 'object' || value === null) return this.#wordOf(value);
    return this.#places.get(value) ?? this.#add(value);
  }

  #wordOf(word: unknown): Place {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    if (!isWord(word)) throw new TypeError(`${typeof word} is not plain data`);
    this.#words.set(word, this.words.length);
    return within(this.words.push(word) - 1, MAX_ROWS);
  }

  #add(object: object): Place {
    const keys = Array.isArray(object) ? null : Object.keys(object);
    const table = this.#tableOf(keys);
    const place = ((table + 1) << ROW_BITS) | within((this.tables[table]?.rows.push(object) ?? 1) - 1, MAX_ROWS);
    this.#places.set(object, place);
    if (keys === null) for (const member of object as unknown[]) this.#visit(member);
    else for (const key of keys) this.#visit((object as Record<string, unknown>)[key]);
    return place;
  }

  #visit(member: unknown): void {
    if (typeof member !== 'object' || member === null) return;
    const place = this.#places.get(member);
    if (place === undefined) this.#add(member);
    else this.tables[(place >>> ROW_BITS) - 1]!.shared = true;
  }

  /** Shapes are few, and fewer have one size: comparing keys, which are one string each, is quicker than making a name of them. */
  #tableOf(keys: readonly string[] | null): number {
    const size = keys?.length ?? -1;
    const candidates = this.#bySize.get(size) ?? [];
    for (const table of candidates) if (sameKeys(this.tables[table]?.keys ?? null, keys)) return table;
    if (keys?.includes('__proto__') === true) throw new TypeError('a key that sets a prototype is not plain data');
    const made = within(this.tables.push({ keys, rows: [], shared: false }) - 1, MAX_TABLES - 1);
    this.#bySize.set(size, [...candidates, made]);
    return made;
  }
}

function sameKeys(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null || a.length !== b.length) return a === b;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

function within(number: number, limit: number): number {
  if (number >= limit) throw new RangeError(`more than ${String(limit)} of a kind`);
  return number;
}

/** Minus zero would come back from the header, which is JSON, without its sign. */
const isWord = (value: unknown): value is Word =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (Number.isFinite(value) && !Object.is(value, -0));
const isInt = (value: unknown): boolean => typeof value === 'number' && Object.is(value | 0, value);

/** Columns one after the other. */
class Body {
  readonly parts: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  bytes = 0;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  table({ keys, rows, shared }: Rows): Table {
    const lists = keys === null ? (rows as unknown[][]) : [];
    const lengths = this.#column(lists.map(({ length }) => length));
    const columns =
      keys === null
        ? [this.#column(lists.flat())]
        : keys.map((key) => this.#column(rows.map((row) => (row as Record<string, unknown>)[key])));
    return { keys, count: rows.length, shared, lengths, columns };
  }

  #column(values: readonly unknown[]): Column {
    const first = values.length === 0 ? null : values[0];
    if (typeof first !== 'object' || first === null) {
      if (values.every((value) => Object.is(value, first)) && isWord(first)) return { kind: 'same', word: first };
      if (values.every(isInt)) return { kind: 'int', at: this.#put(Int32Array.from(values as number[])) };
      if (values.every(Number.isFinite)) return { kind: 'float', at: this.#put(Float64Array.from(values as number[])) };
    }
    const places = new Int32Array(values.length);
    for (let row = 0; row < values.length; row++) places[row] = this.#registry.placeOf(values[row]);
    return runOf(places) ?? { kind: 'place', at: this.#put(places) };
  }

  #put(numbers: Int32Array | Float64Array): number {
    const at = this.bytes;
    this.parts.push({ at, bytes: new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength) });
    this.bytes = at + aligned(numbers.byteLength);
    return at;
  }
}

function runOf(places: Int32Array): Column | null {
  const [first = 0, second = first] = places;
  const step = second - first;
  return places.every((place, row) => place === first + step * row) ? { kind: 'run', first, step } : null;
}

/** The header's length, the header, the text of all words, the body. */
function joined(header: Uint8Array, text: Uint8Array, body: Body): Uint8Array<ArrayBuffer> {
  const start = ALIGNMENT + aligned(header.length + text.length);
  const bytes = new Uint8Array(start + body.bytes);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, ALIGNMENT);
  bytes.set(text, ALIGNMENT + header.length);
  for (const { at, bytes: part } of body.parts) bytes.set(part, start + at);
  return bytes;
}
