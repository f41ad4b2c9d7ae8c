/**
 * Small hashes that need no secrecy: a fingerprint of a text, and the jitter of an event. Not cryptographic: nobody gains by a
 * collision, and the core must not reach for a library where two multiplications will do.
 */

/** 64 bits of FNV-1a over UTF-16 units, as two 32-bit lanes, in hex. */
export function fingerprint(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit ^ (a >>> 13), 0x85ebca6b);
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
}

/** 0–1023, from the id of the event that failed: the same log waits the same time everywhere (law L13). */
export const jitterOf = (eventId: string): number => Number.parseInt(fingerprint(eventId).slice(0, 4), 16) & 1023;
