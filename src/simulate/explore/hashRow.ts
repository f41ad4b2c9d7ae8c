/**
 * The hash of a row is all that is kept of a state. It runs for every part that a move has changed, millions of times a minute, so it
 * reads one typed array where it lies, writes into another, and makes nothing.
 */

/** 64 bits over a row, in two lanes (the mixing of MurmurHash3, twice, differently seeded), written at a place. */
export function hashRow(row: Int32Array | Uint32Array, length: number, into: Uint32Array, at: number): void {
  let high = 0x9747b28c;
  let low = 0x3c6ef372;
  for (let i = 0; i < length; i++) {
    const value = row[i]! | 0;
    const mixed = Math.imul(value, 0xcc9e2d51);
    high ^= Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
    high = (Math.imul((high << 13) | (high >>> 19), 5) + 0xe6546b64) | 0;
    low = Math.imul(low ^ value, 0x85ebca6b);
    low ^= (low >>> 13) + high;
  }
  into[at] = finish(high ^ length);
  into[at + 1] = finish(low ^ length);
}

function finish(value: number): number {
  let hash = value;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
