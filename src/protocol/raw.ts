/**
 * Pieces of JSON text, found and put together without parsing or writing any of it again.
 *
 * Every function here is handed text that `JSON.parse` has accepted, so it looks for ends, not for errors.
 */

/** The characters that structure a JSON text. */
export const marks = {
  quote: 34,
  backslash: 92,
  openArray: 91,
  closeArray: 93,
  openObject: 123,
  closeObject: 125,
  comma: 44,
  colon: 58,
} as const;

export type Path = readonly (string | number)[];

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

/** The index of the first character from `at` on that is no JSON whitespace. */
export function skipSpace(text: string, at: number): number {
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The index after the closing quote of the string that opens at `at`; the end of the text if none closes it. */
export function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === marks.backslash) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** The text behind a quoted JSON string. */
export const unquote = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);

function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === marks.quote) return endOfString(text, at);
  if (first !== marks.openArray && first !== marks.openObject) {
    while (at < text.length && !isEnd(text.charCodeAt(at))) at++;
    return at;
  }
  for (let depth = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === marks.quote) at = endOfString(text, at) - 1;
    else if (code === marks.openArray || code === marks.openObject) depth++;
    else if ((code === marks.closeArray || code === marks.closeObject) && --depth === 0) return at + 1;
  }
  return at;
}

const isEnd = (code: number): boolean =>
  code === marks.comma || code === marks.closeArray || code === marks.closeObject || isSpace(code);

export interface RawMember {
  readonly name: string;
  readonly raw: string;
}

/** The members of a JSON object text in their order, each value as the text it was. Of anything else: none. */
export function rawMembers(object: string): RawMember[] {
  const found: RawMember[] = [];
  let at = skipSpace(object, 0);
  if (object.charCodeAt(at) !== marks.openObject) return found;
  at = skipSpace(object, at + 1);
  while (object.charCodeAt(at) === marks.quote) {
    const nameEnd = endOfString(object, at);
    const start = skipSpace(object, skipSpace(object, nameEnd) + 1);
    const end = endOfValue(object, start);
    found.push({ name: unquote(object.slice(at, nameEnd)), raw: object.slice(start, end) });
    at = skipSpace(object, skipSpace(object, end) + 1);
  }
  return found;
}

/** As {@link rawMembers}, by name; of members named twice the last counts, as in `JSON.parse`. */
export function rawMemberMap(object: string): ReadonlyMap<string, string> {
  return new Map(rawMembers(object).map(({ name, raw }) => [name, raw]));
}

/** The items of a JSON array text, each as the text it was. Of anything else: none. */
export function rawItems(array: string): string[] {
  const found: string[] = [];
  let at = skipSpace(array, 0);
  if (array.charCodeAt(at) !== marks.openArray) return found;
  at = skipSpace(array, at + 1);
  while (at < array.length && array.charCodeAt(at) !== marks.closeArray) {
    const end = endOfValue(array, at);
    found.push(array.slice(at, end));
    at = skipSpace(array, skipSpace(array, end) + 1);
  }
  return found;
}

/** The text of the value at a path, or undefined. Of members named twice the last counts, as in `JSON.parse`. */
export function rawAt(text: string, path: Path): string | undefined {
  let current: string | undefined = text.trim();
  for (const step of path) {
    if (current === undefined) return undefined;
    current = typeof step === 'number' ? rawItems(current)[step] : rawMember(current, step);
  }
  return current;
}

/** The text of one member of an object text, or undefined. */
export function rawMember(object: string, name: string): string | undefined {
  return rawMembers(object).findLast((found) => found.name === name)?.raw;
}

/** An object text from member texts; a member whose text is undefined is left out. */
export function rawObject(members: Iterable<readonly [name: string, raw: string | undefined]>): string {
  const parts: string[] = [];
  for (const [name, raw] of members) if (raw !== undefined) parts.push(`${JSON.stringify(name)}:${raw}`);
  return `{${parts.join(',')}}`;
}

/** An array text from item texts. */
export function rawArray(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}

/**
 * An object text with some members set, or taken away (undefined). The others keep their text and their order, a changed member
 * keeps its place, a new one comes last. Every repetition of a changed member goes, so that no reader can find the old one.
 */
export function spliceMembers(object: string, changes: ReadonlyMap<string, string | undefined>): string {
  const left = new Map(changes);
  const members: [string, string | undefined][] = [];
  for (const { name, raw } of rawMembers(object)) {
    members.push([name, changes.has(name) ? left.get(name) : raw]);
    left.delete(name);
  }
  return rawObject([...members, ...left]);
}
