import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  compareStamps,
  compareUint64,
  joinEntries,
  parseUint64,
  sameEntry,
  supersedes,
  uint64,
  type Entry,
} from '../../src/events/index.ts';

const LIMIT = 2n ** 64n - 1n;
const number = fc.oneof(fc.bigInt({ min: 0n, max: LIMIT }), fc.bigInt({ min: 0n, max: 3n }));
const entry: fc.Arbitrary<Entry> = fc.record({
  state: fc.constantFrom('connected', 'disconnected', 'reauth_required'),
  connectionVersion: number.map(uint64),
  connectionIdHash: fc.constantFrom(null, 'a', 'b'),
});
const stamp = fc.record({ line: fc.nat(2), revision: number.map(uint64) });

it('uint64 survives as text, and compares as the numbers do', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(BigInt(uint64(a))).toBe(a);
      expect(Math.sign(compareUint64(uint64(a), uint64(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

it('what is no uint64 is none', () => {
  const bad = [
    '',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '١',
    '18446744073709551616',
    '1'.repeat(21),
    -1,
    1.5,
    2 ** 53,
    NaN,
    null,
    {},
    -1n,
    2n ** 64n,
  ];
  expect(bad.filter((value) => parseUint64(value) !== undefined)).toEqual([]);
  expect(() => uint64('x')).toThrow(RangeError);
});

it('a join does not depend on order, grouping or repetition', () => {
  fc.assert(
    fc.property(entry, entry, entry, (a, b, c) => {
      expect(joinEntries(a, b)).toEqual(joinEntries(b, a));
      expect(joinEntries(joinEntries(a, b), c)).toEqual(joinEntries(a, joinEntries(b, c)));
      expect(joinEntries(a, a)).toEqual(a);
    }),
  );
});

it('L4: on a tie the more closed answer wins, and the greater connectionVersion', () => {
  const open: Entry = { state: 'connected', connectionVersion: uint64(9), connectionIdHash: 'a' };
  const closed: Entry = { state: 'reauth_required', connectionVersion: uint64(10), connectionIdHash: 'a' };
  expect(joinEntries(open, closed)).toEqual(closed);
  expect(joinEntries({ ...open, connectionVersion: uint64(11) }, closed)).toEqual({
    ...closed,
    connectionVersion: '11',
  });
});

it('stamps order by line, then revision, and nothing supersedes itself', () => {
  fc.assert(
    fc.property(stamp, stamp, entry, entry, (a, b, x, y) => {
      const order = a.line - b.line || compareUint64(a.revision, b.revision);
      expect(Math.sign(compareStamps(a, b))).toBe(Math.sign(order));
      expect(supersedes(a, x, a, x)).toBe(false);
      expect(supersedes(a, x, b, y)).toBe(order > 0 || (order === 0 && !sameEntry(joinEntries(x, y), y)));
    }),
  );
});
