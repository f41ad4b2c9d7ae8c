import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { argumentDigest, canonical } from '../../src/gateway/argumentDigest.ts';

const same = (a: string, b: string): boolean => argumentDigest(a) === argumentDigest(b);

describe('the digest of arguments', () => {
  test.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":1}', '{ "a" : 1.0 }'],
    ['{"a":1}', '{"a":1e0}'],
    ['{"a":"\\u0061"}', '{"a":"a"}'],
    ['{"a":0}', '{"a":-0}'],
  ])('is the same for %s and %s', (a, b) => {
    expect(same(a, b)).toBe(true);
  });

  test.each([
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":9007199254740992}', '{"a":9007199254740993}'],
    ['{"a":"\u00e9"}', '{"a":"e\u0301"}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{}', '{"a":null}'],
  ])('differs for %s and %s', (a, b) => {
    expect(same(a, b)).toBe(false);
  });

  test('orders members by UTF-16 code units, as RFC 8785 shows', () => {
    const text =
      '{"\u20ac":"Euro Sign","\\r":"Carriage Return","\ufb33":"Hebrew","1":"One","\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"O"}';
    expect(canonical(text)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"O","\u20ac":"Euro Sign","\ud83d\ude00":"Emoji","\ufb33":"Hebrew"}',
    );
  });

  test('does not depend on the way in which a value is written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const compact = JSON.stringify(value);
        expect(canonical(JSON.stringify(value, null, 2))).toBe(canonical(compact));
        expect(canonical(canonical(compact))).toBe(canonical(compact));
      }),
    );
  });

  test('names its scheme', () => {
    expect(argumentDigest('{}')).toMatch(/^jcs1-sha256:[0-9a-f]{64}$/);
  });
});
