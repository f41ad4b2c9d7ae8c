/**
 * A server's uint64 as canonical decimal text: no sign, no leading zero, at most 18446744073709551615.
 *
 * Text, because a float rounds above 2^53 and a bigint is not JSON. Canonical, so that equal numbers are equal strings.
 * Source: facts of the wire: `revision` and `connectionVersion` come as a JSON number or as decimal text.
 */
export type Uint64 = string & { readonly uint64: unique symbol };

const LIMIT = 18446744073709551615n;
const DIGITS = /^[0-9]{1,20}$/;

/** Reads a uint64 from JSON: decimal text, or a number that a float holds exactly. Anything else is `undefined`. */
export function parseUint64(value: unknown): Uint64 | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? (String(value) as Uint64) : undefined;
  if (typeof value === 'bigint') return value >= 0n && value <= LIMIT ? (String(value) as Uint64) : undefined;
  if (typeof value !== 'string' || !DIGITS.test(value)) return undefined;
  // Canonical already, and too short to pass the limit: nearly every one, and a bigint would cost more than all the rest.
  if (value.length < 20 && (value === '0' || !value.startsWith('0'))) return value as Uint64;
  const number = BigInt(value);
  return number <= LIMIT ? (String(number) as Uint64) : undefined;
}

/** As {@link parseUint64}, for values that the program itself wrote. Throws a RangeError on anything else. */
export function uint64(value: number | string | bigint): Uint64 {
  const parsed = parseUint64(value);
  if (parsed === undefined) throw new RangeError(`not a uint64: ${String(value)}`);
  return parsed;
}

/** Negative, zero or positive, as a − b. Length first: canonical text of more digits is the greater number. */
export function compareUint64(a: Uint64, b: Uint64): number {
  // Mostly they are one and the same text, and then nothing is compared.
  return a === b ? 0 : a.length - b.length || (a < b ? -1 : 1);
}
