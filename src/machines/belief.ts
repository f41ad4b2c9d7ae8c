/**
 * The arithmetic of one route: what each piece of evidence does to what is held. Pure functions from context and evidence to the
 * members that change; `route.ts` names them, DESIGN 5.2 is their source, row by row. The wording was model-checked: change a
 * line only with a counter-example or a proof, in an ADR.
 */
import {
  compareStamps,
  compareUint64,
  joinEntries,
  sameEntry,
  supersedes,
  closedness,
  type Entry,
  type Stamp,
  type Uint64,
} from '../events/index.ts';
import type { Device, ReadEvidence, RouteEvidence } from './evidence.ts';

/** Reads that disagree count only when they lie this far apart: a server that is restarting says many things in one minute. */
export const APART_MS = 60_000;
/** A rejected route waits 2^k s, at most this long, before it is tried again on an unchanged connection. */
export const HOLD_OFF_MAX_MS = 300_000;
/** A handle that lived this long pays off the failures before it. */
export const STEADY_MS = 600_000;
/** A release that broke its contract is tried again no sooner than this. */
export const CONTRACT_RETRY_MS = 60_000;

/** What was last read of a connector, and where in the server's history. */
export interface Read {
  readonly stamp: Stamp;
  readonly entry: Entry;
}

/** A rejection (428, -33001, -33002) that no read has answered yet. Lies over the belief without touching it. */
export interface Overlay {
  readonly position: number;
  readonly holdUntilMs: number;
  readonly connectionIdHash: string | null;
  readonly connectionVersion: Uint64 | null;
  /** A read begun after the rejection says connected, on the same connection: only the hold-off is left. */
  readonly confirmed: boolean;
}

/** The user disconnects here. `needs` says which read may bring the route back once the server has answered. */
export interface Tombstone {
  readonly epoch: number;
  readonly line: number;
  readonly floor: Uint64 | null;
  readonly answeredAt: number | null;
  readonly needs: { readonly atLeast: Uint64 } | { readonly above: Uint64 } | 'any';
}

export interface RouteContext {
  readonly device: Device | null;
  readonly read: Read | null;
  /** Epoch of the newest accepted read that spoke about this connector; 0: none ever. Law L2. */
  readonly seenIn: number;
  readonly unreadable: boolean;
  /** Greatest connectionVersion read of one connection. Falls only after three reads that agree on less. */
  readonly highWater: { readonly connectionIdHash: string | null; readonly connectionVersion: Uint64 } | null;
  readonly regress: { readonly count: number; readonly lastAtMs: number } | null;
  /** How often the high-water fell: a fence of an earlier water does not bind. */
  readonly falls: number;
  readonly overlay: Overlay | null;
  /** k of the hold-off, per connection hash and version. */
  readonly strikes: {
    readonly connectionIdHash: string | null;
    readonly connectionVersion: Uint64 | null;
    readonly k: number;
  } | null;
  readonly tombstone: Tombstone | null;
  /** Rises with every change of release, connection, version or line and with every rejection; never falls. Part of the generation. */
  readonly count: number;
  readonly attempts: number;
  readonly openedAtMs: number | null;
  readonly fault: { readonly retryAtMs: number; readonly contract: boolean } | null;
}

export const unread: RouteContext = {
  device: null,
  read: null,
  seenIn: 0,
  unreadable: false,
  highWater: null,
  regress: null,
  falls: 0,
  overlay: null,
  strikes: null,
  tombstone: null,
  count: 0,
  attempts: 0,
  openedAtMs: null,
  fault: null,
};

type Of<T extends RouteEvidence['type']> = Extract<RouteEvidence, { type: T }>;

// Every function returns the whole next context, or the very same one where nothing differs: the table asks by identity.

type Tries = Pick<RouteContext, 'overlay' | 'strikes' | 'count' | 'attempts' | 'openedAtMs' | 'fault'>;

/** What is believed stays, what was tried is new. Written out, as a spread costs more than all the rest of a step. */
const tried = (
  { device, read, seenIn, unreadable, highWater, regress, falls, tombstone }: RouteContext,
  { overlay, strikes, count, attempts, openedAtMs, fault }: Tries,
): RouteContext => ({
  device,
  read,
  seenIn,
  unreadable,
  highWater,
  regress,
  falls,
  overlay,
  strikes,
  tombstone,
  count,
  attempts,
  openedAtMs,
  fault,
});

/** Another generation is wanted: what failed under the last one says nothing about the next. */
const regenerate = (
  context: RouteContext,
  { overlay, strikes }: Pick<RouteContext, 'overlay' | 'strikes'> = context,
): RouteContext =>
  tried(context, { overlay, strikes, count: context.count + 1, attempts: 0, openedAtMs: null, fault: null });

/** What was removed and comes back is installed anew, even as the same release: what is still on its way belongs to the old one. */
export function install(context: RouteContext, { device }: Of<'device'>): RouteContext {
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

function liftOverlay(overlay: Overlay | null, entry: Entry, read: ReadEvidence): Overlay | null {
  if (overlay === null || read.startedAt < overlay.position || entry.state !== 'connected') return overlay;
  const changed =
    overlay.connectionVersion !== entry.connectionVersion || overlay.connectionIdHash !== entry.connectionIdHash;
  if (changed || read.atMs >= overlay.holdUntilMs) return null;
  return overlay.confirmed ? overlay : { ...overlay, confirmed: true };
}

function liftTombstone(tombstone: Tombstone | null, read: ReadEvidence): Tombstone | null {
  if (tombstone === null) return null;
  // A tombstone of an earlier epoch that was never answered counts as failed from this epoch's first position on.
  const lost = tombstone.answeredAt === null && tombstone.epoch !== read.epoch;
  const answeredAt = lost ? read.epochAt : tombstone.answeredAt;
  if (answeredAt === null || read.startedAt < answeredAt) return tombstone;
  return lost || reaches(tombstone, read.stamp) ? null : tombstone;
}

function reaches(tombstone: Tombstone, stamp: Stamp): boolean {
  if (tombstone.needs === 'any' || stamp.line > tombstone.line) return true;
  if ('atLeast' in tombstone.needs) return compareUint64(stamp.revision, tombstone.needs.atLeast) >= 0;
  return compareUint64(stamp.revision, tombstone.needs.above) > 0;
}

export const garble = (context: RouteContext): RouteContext =>
  context.unreadable ? context : { ...context, unreadable: true };

/** Row "equal revision, other content": the more closed side wins, entry by entry. It is a dissent, so it lifts and marks nothing. */
export function join(context: RouteContext, { stamp, entry }: Of<'torn'>): RouteContext {
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

export function reject(context: RouteContext, { position, atMs }: Of<'rejected'>): RouteContext {
  const connectionIdHash = context.read?.entry.connectionIdHash ?? null;
  const connectionVersion = context.read?.entry.connectionVersion ?? null;
  const same =
    context.strikes?.connectionIdHash === connectionIdHash && context.strikes.connectionVersion === connectionVersion;
  const k = same ? (context.strikes?.k ?? 0) + 1 : 1;
  const holdUntilMs = atMs + Math.min(2 ** Math.min(k, 20) * 1000, HOLD_OFF_MAX_MS);
  // A route that needs no authorization has no entry whose read could confirm it: the hold-off alone lifts it.
  const confirmed = context.device?.authorization === 'none';
  return regenerate(context, {
    overlay: { position, holdUntilMs, connectionIdHash, connectionVersion, confirmed },
    strikes: { connectionIdHash, connectionVersion, k },
  });
}

export const bury = (context: RouteContext, { epoch, line, floor }: Of<'dropping'>): RouteContext => ({
  ...context,
  tombstone: { epoch, line, floor, answeredAt: null, needs: 'any' },
});

export function answerDrop(context: RouteContext, { position, revision }: Of<'dropped'>): RouteContext {
  const tombstone = context.tombstone;
  if (tombstone === null) return context;
  const known = tombstone.floor === null ? ('any' as const) : { above: tombstone.floor };
  return {
    ...context,
    tombstone: { ...tombstone, answeredAt: position, needs: revision === null ? known : { atLeast: revision } },
  };
}

export function failDrop(context: RouteContext, { position }: Of<'dropFailed'>): RouteContext {
  return context.tombstone === null
    ? context
    : { ...context, tombstone: { ...context.tombstone, answeredAt: position, needs: 'any' } };
}

/** The revision that a tombstone waits for will not come: any read begun after the answer will do. */
export function freeTombstone(context: RouteContext): RouteContext {
  const waits = context.tombstone !== null && context.tombstone.needs !== 'any';
  return waits ? { ...context, tombstone: { ...context.tombstone, needs: 'any' } } : context;
}

export const settleOpen = (context: RouteContext, { atMs }: Of<'opened'>): RouteContext => {
  if (context.openedAtMs === atMs && context.fault === null) return context;
  const { overlay, strikes, count, attempts } = context;
  return tried(context, { overlay, strikes, count, attempts, openedAtMs: atMs, fault: null });
};

/** 1, 2, 4 … 300 s with ±25 % of jitter; never sooner than the other side asked for. */
export function fail(context: RouteContext, evidence: Of<'failed'>): RouteContext {
  const steady = context.openedAtMs !== null && evidence.atMs - context.openedAtMs >= STEADY_MS;
  const attempts = steady ? 1 : context.attempts + 1;
  const floorMs = evidence.contract ? CONTRACT_RETRY_MS : 0;
  const waitMs = Math.max(backoffMs(attempts, evidence.jitter), evidence.retryAfterMs, floorMs);
  const { overlay, strikes, count } = context;
  const fault = { retryAtMs: evidence.atMs + waitMs, contract: evidence.contract };
  return tried(context, { overlay, strikes, count, attempts, openedAtMs: null, fault });
}

/** Doubling from 1 s to 300 s. `jitter` is 0–1023, a hash of the event's id: never a fresh random number (law L13). */
export function backoffMs(attempts: number, jitter: number): number {
  const baseMs = Math.min(2 ** Math.min(attempts - 1, 20) * 1000, HOLD_OFF_MAX_MS);
  return Math.round(baseMs * (0.75 + jitter / 2048));
}

export function passTime(context: RouteContext, { nowMs }: Of<'ticked'>): RouteContext {
  const overlay = context.overlay?.confirmed === true && nowMs >= context.overlay.holdUntilMs ? null : context.overlay;
  const fault = context.fault !== null && nowMs >= context.fault.retryAtMs ? null : context.fault;
  if (overlay === context.overlay && fault === context.fault) return context;
  const { strikes, count, attempts, openedAtMs } = context;
  return tried(context, { overlay, strikes, count, attempts, openedAtMs, fault });
}

/** The next instant that would change this route by itself, in ms since epoch. */
export function routeDeadline(context: RouteContext): number | null {
  const hold = context.overlay?.confirmed === true ? context.overlay.holdUntilMs : null;
  const retry = context.fault?.retryAtMs ?? null;
  return hold === null ? retry : retry === null ? hold : Math.min(hold, retry);
}

/** Whether any read must speak about a route before it may be shown: remote, and with an authorization. */
export const needsAuthorization = (device: Device): boolean =>
  device.kind === 'remote' && device.authorization !== 'none';

/** Whether a route lives on this device whatever the account: not remote, and without an authorization. Law L15. */
export const isExempt = (device: Device): boolean => device.kind !== 'remote' && device.authorization === 'none';

/** Identity of the handle that is wanted now: release digest, connectionVersion, count. */
export function generationOf(context: RouteContext): string {
  return `${context.device?.release.digest ?? '-'}.${context.read?.entry.connectionVersion ?? '0'}.${String(context.count)}`;
}
