import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyOf, openBody } from '../../src/events/segmentBody.ts';
import type { StoredRow } from '../../src/events/sqliteSchema.ts';

const word = (number: number): string => `word-${String(number)}`;
const row = (position: number, payload: string | null, at = position, cause: number | null = null): StoredRow => [
  ...([position, `id-${String(position)}`, at, cause, 1, 1, 2, null, payload === null ? 'redacted' : null] as const),
  payload,
];
const texts = (payloads: readonly (string | null)[]): readonly (string | null)[] =>
  openBody(
    bodyOf(
      payloads.map((payload, at) => row(at + 7, payload)),
      word,
    ),
    7,
  ).map(({ data }) => (data === null ? null : JSON.stringify(data)));

/** Objects of objects of objects, with names that an assignment would swallow or sort. */
const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', '10', '9', 'entries', '":{"'), fc.string());
const leaf = fc.oneof(fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.constant({})), { maxKeys: 3 }), fc.jsonValue());
const payload = fc.dictionary(name, fc.oneof(leaf, fc.dictionary(name, leaf, { maxKeys: 4 })), { maxKeys: 4 });
/** As JSON would write it: a text that it would not is kept as it is, which is a test of its own. */
const text = payload.map((value) => JSON.stringify(JSON.parse(JSON.stringify(value))));

it('gives back every payload, to the letter', () => {
  fc.assert(
    fc.property(fc.array(fc.option(text), { minLength: 1, maxLength: 12 }), (payloads) => {
      expect(texts(payloads)).toEqual(payloads);
    }),
    { numRuns: 400 },
  );
});

it.each([
  '{"entries":{"a":{"b":1}},"entries":{"a":{"b":2}}}',
  '{"entries": {"a":{"b":1}}}',
  '{"entries":{"a":{"b":1.0}}}',
  '{"entries":{"a":{"b":-0}}}',
  '{"entries":{"a":{"b":1e400}}}',
  '{"entries":{"a":{"b":1},"a":{"b":3}}}',
  String.raw`{"entries":{"\u0061":{"b":1}}}`,
])('reads what JSON would write in another way as JSON reads it: %s', (payload) => {
  const [event] = openBody(bodyOf([row(1, payload)], word), 1);
  expect(event?.data).toEqual(JSON.parse(payload));
});

it('gives back places, times, causes and words, also of a clock that went back', () => {
  const rows = [row(3, '{}', 900, null), row(4, '{}', 200, 1), row(5, null, 8_640_000_000_000_000, 4)];
  expect(openBody(bodyOf(rows, word), 3).map(({ position, at, cause }) => [position, at, cause])).toEqual([
    [3, 900, null],
    [4, 200, 1],
    [5, 8_640_000_000_000_000, 4],
  ]);
  expect(openBody(bodyOf(rows, word), 3)[1]).toEqual({
    ...{ position: 4, type: 'word-1', data: {}, id: 'id-4', at: 200, cause: 1, schema: 1, rules: 'word-2' },
  });
});

it('says once what many payloads say of a connection', () => {
  const entries = (changed: number): string => {
    const lines = Array.from(
      { length: 50 },
      (_, at) => `"connector-${String(at)}":{"version":"${at === changed ? 'x' : ''}"}`,
    );
    return `{"entries":{${lines.join(',')}}}`;
  };
  const payloads = Array.from({ length: 40 }, (_, at) => entries(at));
  const body = bodyOf(
    payloads.map((payload, at) => row(at + 1, payload)),
    word,
  );
  expect(body.split('"version"')).toHaveLength(3);
  expect(texts(payloads)).toEqual(payloads);
});
