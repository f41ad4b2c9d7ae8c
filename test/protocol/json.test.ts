import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BadJson,
  type BadJsonReason,
  parseJson,
  rawArray,
  rawAt,
  rawItems,
  rawMembers,
  spliceMembers,
} from '../../src/protocol/index.ts';
import { corpora, corpusFiles } from '../support/protocol/corpora.ts';

function reasonOf(source: Uint8Array | string, options?: Parameters<typeof parseJson>[1]): BadJsonReason | 'accepted' {
  try {
    parseJson(source, options);
    return 'accepted';
  } catch (error) {
    if (error instanceof BadJson) return error.reason;
    throw error;
  }
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('parseJson', () => {
  it('accepts depth 64 and refuses depth 65, before the text is parsed', () => {
    expect(reasonOf(nested(64))).toBe('accepted');
    expect(reasonOf(nested(65))).toBe('depth');
    expect(reasonOf('['.repeat(1_000_000))).toBe('depth');
  });

  it('counts no brackets inside strings', () => {
    expect(reasonOf(JSON.stringify({ text: `${'[{'.repeat(200)}\\"` }))).toBe('accepted');
  });

  it('refuses bytes that are not UTF-8, and a byte order mark', () => {
    expect(reasonOf(Uint8Array.of(0x22, 0xff, 0x22))).toBe('utf8');
    expect(reasonOf(Uint8Array.of(0x22, 0xc0, 0xaf, 0x22))).toBe('utf8'); // overlong
    expect(reasonOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toBe('syntax');
  });

  it('refuses a name given twice where asked, also when one of them is escaped', () => {
    expect(reasonOf('{"a":1,"\\u0061":2}', { duplicates: 'refuse' })).toBe('duplicate');
    expect(reasonOf('{"x":[{"a":{},"b":"a","a":3}]}', { duplicates: 'refuse' })).toBe('duplicate');
    expect(reasonOf('{"a":{"a":{"a":[]}},"b":["a","a"]}', { duplicates: 'refuse' })).toBe('accepted');
    expect(parseJson('{"a":1,"a":2}').value).toEqual({ a: 2 });
  });

  it('refuses more bytes than allowed and says nothing of them', () => {
    expect(() => parseJson(Buffer.from('"secret"'), { maxBytes: 4 })).toThrow(/^JSON is larger than 4 bytes$/);
    expect(() => parseJson('secret')).toThrow(/^not valid JSON$/);
  });

  it('keeps a member called __proto__ a member', () => {
    const { value } = parseJson('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it(`agrees with JSONTestSuite on every file (${corpora === undefined ? 'no corpora: 0' : 318} files)`, () => {
    const files = corpusFiles('json', 'test_parsing');
    const wrong = files.filter(({ name, bytes }) => {
      const accepted = reasonOf(bytes, { maxDepth: 1_000_000 }) === 'accepted';
      return name.startsWith('y_') ? !accepted : name.startsWith('n_') && accepted;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect(files).toHaveLength(corpora === undefined ? 0 : 318);
  });
});

const anyJson = fc.json({ maxDepth: 5 });

describe('raw text', () => {
  it('keeps integers that a float would round, and the order of members', () => {
    const text = '{ "z" : 9007199254740993 , "a":[ 1.0, -0, 18446744073709551615 ], "10":{"b":1,"a":2} }';
    expect(rawAt(text, ['z'])).toBe('9007199254740993');
    expect(rawAt(text, ['a', 2])).toBe('18446744073709551615');
    expect(rawAt(text, ['10'])).toBe('{"b":1,"a":2}');
    expect(rawMembers(text).map(({ name }) => name)).toEqual(['z', 'a', '10']);
  });

  it('answers undefined for a path that leads nowhere', () => {
    expect(rawAt('{"a":[1]}', ['a', 1])).toBeUndefined();
    expect(rawAt('{"a":1}', ['a', 'b'])).toBeUndefined();
    expect(rawAt('{}', ['toString'])).toBeUndefined();
  });

  it('finds the same value as parsing, for any JSON', () => {
    const check = (text: string): void => {
      const value = JSON.parse(text) as unknown;
      if (Array.isArray(value)) expect(rawItems(text).map((raw) => JSON.parse(raw) as unknown)).toEqual(value);
      else if (value !== null && typeof value === 'object')
        for (const [name, child] of Object.entries(value)) expect(JSON.parse(rawAt(text, [name]) ?? '')).toEqual(child);
    };
    const layouts = fc.constantFrom(0, 1, 2);
    fc.assert(
      fc.property(anyJson, layouts, (text, space) => void check(JSON.stringify(JSON.parse(text), null, space))),
      { numRuns: 500 },
    );
  });
});

describe('rawArray', () => {
  it('puts items together again to the same value', () => {
    const check = (text: string): void => expect(JSON.parse(rawArray(rawItems(text)))).toEqual(JSON.parse(text));
    fc.assert(fc.property(fc.array(fc.jsonValue()), (list) => void check(JSON.stringify(list))));
  });
});

describe('spliceMembers', () => {
  it('changes a member in its place and leaves the text of the others alone', () => {
    const changed = spliceMembers(
      '{"big":12345678901234567890, "name":"a", "x":{"q" : 1}}',
      new Map([['name', '"b"']]),
    );
    expect(changed).toBe('{"big":12345678901234567890,"name":"b","x":{"q" : 1}}');
  });

  it('adds what was not there and takes away what is set to undefined', () => {
    expect(
      spliceMembers(
        '{"a":1}',
        new Map([
          ['b', '2'],
          ['a', undefined],
        ]),
      ),
    ).toBe('{"b":2}');
  });

  it('leaves no second copy of a changed member for another reader to find', () => {
    expect(spliceMembers('{"name":"x","n":1,"na\\u006de":"y"}', new Map([['name', '"b"']]))).toBe('{"name":"b","n":1}');
  });
});
