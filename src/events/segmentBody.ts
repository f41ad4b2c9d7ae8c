/**
 * The text of a part of a segment: its events in columns, as JSON. What most of a log consists of is said once. A snapshot names every
 * connection of an account, and the next one names them again with one that is different: so the members of such a record are a list
 * that all events of the part refer to. Half of the text is left, and of what one `JSON.parse` has to make.
 */
import type { RawEvent } from './parse.ts';
import type { StoredRow } from './sqliteSchema.ts';

/** What events have in common. `listed` is the member of their payloads whose own members are places in the list. */
type Kind = readonly [type: string, schema: number, rules: string, listed: string | null];
type Payload = Record<string, unknown>;
type Listed = Record<string, Payload>;

/** Columns of the same length but for the first two. The first time counts from 0, each other from the one before; so do causes, from their own event. */
type Body = readonly [
  kinds: readonly Kind[],
  list: readonly Payload[],
  kind: readonly number[],
  data: readonly (Payload | null)[],
  id: readonly string[],
  later: readonly number[],
  causedBefore: readonly (number | null)[],
];

/** `word` gives the text of a word's number. Every payload can be read back as the text it was. */
export function bodyOf(rows: readonly StoredRow[], word: (number: number) => string): string {
  const [kinds, list] = [new Places(), new Places()];
  const columns: [number[], string[], string[], number[], (number | null)[]] = [[], [], [], [], []];
  let before = 0;
  for (const [position, id, at, cause, type, schema, rules, , , payload] of rows) {
    const [listed, data] = shortened(payload, list);
    columns[0].push(kinds.of(JSON.stringify([word(type), schema, word(rules), listed])));
    columns[1].push(data);
    columns[2].push(JSON.stringify(id));
    columns[3].push(at - before);
    columns[4].push(cause === null ? null : position - cause);
    before = at;
  }
  const columnTexts = columns.map((column) => `[${column.map(String).join(',')}]`);
  return `[[${kinds.texts.join(',')}],[${list.texts.join(',')}],${columnTexts.join(',')}]`;
}

/** The events of a body, `first` being the position of the oldest. They share what was listed, so nobody may write to it. */
export function openBody(body: string, first: number): readonly RawEvent[] {
  const [kinds, list, kindAt, data, ids, later, causedBefore] = JSON.parse(body) as Body;
  let at = 0;
  return ids.map((id, index) => {
    const position = first + index;
    const [type, schema, rules, listed] = kinds[kindAt[index]!]!;
    const before = causedBefore[index]!;
    at += later[index]!;
    const cause = before === null ? null : position - before;
    return { position, type, data: lengthened(data[index]!, listed, list), id, at, cause, schema, rules };
  });
}

/** A record in a record in a payload. Most payloads have none, and to parse them would be most of the work of sealing. */
const MAY_HOLD_RECORDS = /":\{"[^"\\]*":\{/;

/** A payload's text with places instead of what is listed, and the member where they stand. */
function shortened(payload: string | null, list: Places): [listed: string | null, text: string] {
  if (payload === null || !MAY_HOLD_RECORDS.test(payload)) return [null, String(payload)];
  const data = JSON.parse(payload) as Payload;
  const listed = Object.keys(data).find((member) => isRecords(data[member]));
  // What JSON would write in another way could not be had back.
  if (listed === undefined || JSON.stringify(data) !== payload) return [null, payload];
  const places = Object.entries(data[listed] as Listed).map(([name, value]) => [name, list.of(JSON.stringify(value))]);
  // Not by assignment, as a name may be `__proto__`.
  return [listed, JSON.stringify({ ...data, [listed]: Object.fromEntries(places) as unknown })];
}

/** In place: the order of the members is part of a payload's text. */
function lengthened(data: Payload | null, listed: string | null, list: readonly Payload[]): Payload | null {
  if (data === null || listed === null) return data;
  const places = data[listed] as Record<string, unknown>;
  for (const name in places) places[name] = list[places[name] as number];
  return data;
}

function isRecords(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const members = Object.values(value);
  return members.length > 0 && members.every(isRecord);
}

const isRecord = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Texts in the order in which they were met first, and the place of each. */
class Places {
  readonly texts: string[] = [];
  readonly #places = new Map<string, number>();

  of(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }
}
