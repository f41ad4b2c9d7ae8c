/**
 * How fresh a piece of belief is, and the one order between two of them. Everything that asks "is this newer?" asks here: the
 * belief of a route on the way in, and the fence of the projector on the way out. DESIGN 5.2.
 */
import { compareUint64, type Uint64 } from './uint64.ts';

/**
 * Freshness of a read. `line` is our own count, per account, of server lines adopted (a restored server starts a new line);
 * `revision` is the server's account-wide number within that line.
 */
export interface Stamp {
  readonly line: number;
  readonly revision: Uint64;
}

/** What the server says of a connection. */
export type Authorization = 'connected' | 'disconnected' | 'reauth_required';

/** The more closed, the greater: on a tie between two reads the greater wins (law L4). */
export const closedness: Readonly<Record<Authorization, number>> = {
  connected: 0,
  disconnected: 1,
  reauth_required: 2,
};

/** What one read said of one connector. `connectionIdHash` tells connections apart without naming them. */
export interface Entry {
  readonly state: Authorization;
  readonly connectionVersion: Uint64;
  readonly connectionIdHash: string | null;
}

/** Negative, zero or positive, as a − b: line first, then revision. */
export function compareStamps(a: Stamp, b: Stamp): number {
  return a.line - b.line || compareUint64(a.revision, b.revision);
}

/** Whether two reads said the same of a connector. */
export function sameEntry(a: Entry, b: Entry): boolean {
  return (
    a.state === b.state && a.connectionVersion === b.connectionVersion && a.connectionIdHash === b.connectionIdHash
  );
}

/** Two answers at one stamp, joined: the more closed state, the greater connectionVersion. Commutative, associative, idempotent. */
export function joinEntries(a: Entry, b: Entry): Entry {
  const closed = closedness[a.state] >= closedness[b.state] ? a : b;
  const newer = compareUint64(a.connectionVersion, b.connectionVersion) >= 0 ? a : b;
  if (closed === newer || closed.connectionVersion === newer.connectionVersion) return pickHash(closed, a, b);
  return { ...pickHash(closed, a, b), connectionVersion: newer.connectionVersion };
}

/** Of two equally closed answers with different hashes the greater text wins: any rule will do, if it does not depend on order. */
function pickHash(closed: Entry, a: Entry, b: Entry): Entry {
  if (a.state !== b.state || a.connectionIdHash === b.connectionIdHash) return closed;
  const hash = (a.connectionIdHash ?? '') > (b.connectionIdHash ?? '') ? a.connectionIdHash : b.connectionIdHash;
  return { ...closed, connectionIdHash: hash };
}

/** Whether `fresh` at `stamp` may replace what is held: a greater stamp, or at the same stamp something more closed. */
export function supersedes(stamp: Stamp, fresh: Entry, heldStamp: Stamp, held: Entry): boolean {
  const order = compareStamps(stamp, heldStamp);
  return order > 0 || (order === 0 && !sameEntry(joinEntries(held, fresh), held));
}
