/**
 * The arithmetic of one route: what a read, a release or another line does to what is believed. Pure functions from context and
 * evidence to the next context; `route.ts` names them, DESIGN 5.2 is their source, row by row. The wording was model-checked, here as
 * in `attempts.ts` and `tombstone.ts`: change a line only with a counter-example or a proof, in an ADR.
 */
import {
  compareStamps,
  compareUint64,
  joinEntries,
  sameEntry,
  supersedes,
  closedness,
  type Entry,
  type Uint64,
} from '../events/index.ts';
import { liftOverlay, regenerate } from './attempts.ts';
import type { ReadEvidence, RouteEvidenceOf } from './evidence.ts';
import type { RouteContext } from './routeContext.ts';
import { liftTombstone } from './tombstone.ts';

/** Reads that disagree count only when they lie this far apart: a server that is restarting says many things in one minute. */
export const APART_MS = 60_000;

/** What was removed and comes back is installed anew, even as the same release: what is still on its way belongs to the old one. */
export function install(context: RouteContext, { device }: RouteEvidenceOf<'device'>): RouteContext {
  if (device === context.device) return context;
  const before = context.device?.release.digest;
  const changed = before !== undefined && before !== device?.release.digest;
  return { ...(changed ? regenerate(context) : context), device };
}

/** An absent connector keeps its version and connection: it is the same one, closed. */
function entryOf(context: RouteContext, entry: Entry | null): Entry {
  if (entry !== null) return entry;
  const held = context.read?.entry;
  return {
    state: 'disconnected',
    connectionVersion: held?.connectionVersion ?? ('0' as Uint64),
    connectionIdHash: held?.connectionIdHash ?? null,
  };
}

/** Accepted read: belief, high-water, and whatever waits for a read. */
export function believe(context: RouteContext, evidence: ReadEvidence): RouteContext {
  const entry = entryOf(context, evidence.entry);
  const held = context.read;
  const fresh = held === null || supersedes(evidence.stamp, entry, held.stamp, held.entry);
  const read = fresh ? { stamp: evidence.stamp, entry } : held;
  const { highWater, regress, falls } = fathom(context, read.entry, evidence.atMs);
  const anew = falls !== context.falls || (held !== null && !sameConnection(held.entry, read.entry));
  return {
    device: context.device,
    read,
    seenIn: evidence.epoch,
    unreadable: false,
    highWater,
    regress,
    falls,
    overlay: liftOverlay(context.overlay, read.entry, evidence),
    strikes: context.strikes,
    tombstone: liftTombstone(context.tombstone, evidence),
    count: anew ? context.count + 1 : context.count,
    attempts: anew ? 0 : context.attempts,
    openedAtMs: anew ? null : context.openedAtMs,
    fault: anew ? null : context.fault,
  };
}

function sameConnection(a: Entry, b: Entry): boolean {
  return a.connectionVersion === b.connectionVersion && a.connectionIdHash === b.connectionIdHash;
}

type Water = Pick<RouteContext, 'highWater' | 'regress' | 'falls'>;

/** Row "cv below the high-water": withheld, and after three such reads ≥ 60 s apart the water falls. Closing is always believed. */
function fathom(context: RouteContext, entry: Entry, atMs: number): Water {
  const { connectionIdHash, connectionVersion } = entry;
  const { highWater: held, falls } = context;
  const below =
    held !== null &&
    held.connectionIdHash === connectionIdHash &&
    compareUint64(connectionVersion, held.connectionVersion) < 0;
  if (!below || entry.state !== 'connected') return calm(context, raised(held, entry));
  const regress = countApart(context.regress, atMs);
  if (regress.count < 3) return { highWater: held, regress, falls };
  return { highWater: { connectionIdHash, connectionVersion }, regress: null, falls: falls + 1 };
}

/** The high-water after something was believed. Another connection starts anew. */
function raised(held: RouteContext['highWater'], entry: Entry): RouteContext['highWater'] {
  const { connectionIdHash, connectionVersion } = entry;
  if (held?.connectionIdHash === connectionIdHash)
    return compareUint64(connectionVersion, held.connectionVersion) > 0
      ? { connectionIdHash, connectionVersion }
      : held;
  // A closed entry without a connection is no connection of its own: it must not wash the water of the last one away.
  const none = entry.state === 'disconnected' && connectionIdHash === null;
  return none ? held : { connectionIdHash, connectionVersion };
}

function calm(water: Water, highWater: Water['highWater']): Water {
  if (water.highWater === highWater && water.regress === null) return water;
  return { highWater, regress: null, falls: water.falls };
}

/** One more occurrence, if the last one counted lies far enough back. */
export function countApart(
  held: { readonly count: number; readonly lastAtMs: number } | null,
  atMs: number,
): { count: number; lastAtMs: number } {
  if (held === null) return { count: 1, lastAtMs: atMs };
  return atMs - held.lastAtMs >= APART_MS ? { count: held.count + 1, lastAtMs: atMs } : held;
}

export const garble = (context: RouteContext): RouteContext =>
  context.unreadable ? context : { ...context, unreadable: true };

/** Row "equal revision, other content": the more closed side wins, entry by entry. It is a dissent, so it lifts and marks nothing. */
export function join(context: RouteContext, { stamp, entry }: RouteEvidenceOf<'torn'>): RouteContext {
  const held = context.read;
  const other = entryOf(context, entry);
  if (held === null) return context;
  const order = compareStamps(stamp, held.stamp);
  if (order === 0) {
    const joined = joinEntries(held.entry, other);
    if (sameEntry(joined, held.entry)) return context;
    const base = sameConnection(joined, held.entry) ? context : regenerate(context);
    return { ...base, read: { stamp, entry: joined }, highWater: raised(context.highWater, joined) };
  }
  // Not read at this revision before: of the two sides only a closing one may be believed.
  if (order < 0 || closedness[other.state] <= closedness[held.entry.state]) return context;
  return { ...context, read: { stamp: held.stamp, entry: { ...held.entry, state: other.state } } };
}

/** A restored server starts a new line: what it said before is forgotten, what its gateway refused is not. */
export function forget(context: RouteContext): RouteContext {
  const answered = context.tombstone !== null && context.tombstone.answeredAt !== null;
  return {
    ...regenerate(context),
    read: null,
    unreadable: false,
    highWater: null,
    regress: null,
    tombstone: answered ? null : context.tombstone,
  };
}
