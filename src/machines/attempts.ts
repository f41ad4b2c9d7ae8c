/**
 * What was tried with a route, and when it may be tried again: generations, openings, failures, refusals. Apart from `belief.ts`,
 * because it comes from the hands, the gateway and time: a read may lift a refusal, but no read makes one. Model-checked as belief is.
 */
import type { Entry } from '../events/index.ts';
import type { ReadEvidence, RouteEvidenceOf } from './evidence.ts';
import type { Overlay, RouteContext } from './routeContext.ts';

/** A rejected route waits 2^k s, at most this long, before it is tried again on an unchanged connection. */
export const HOLD_OFF_MAX_MS = 300_000;
/** A handle that lived this long pays off the failures before it. */
export const STEADY_MS = 600_000;
/** A release that broke its contract is tried again no sooner than this. */
export const CONTRACT_RETRY_MS = 60_000;

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
export const regenerate = (
  context: RouteContext,
  { overlay, strikes }: Pick<RouteContext, 'overlay' | 'strikes'> = context,
): RouteContext =>
  tried(context, { overlay, strikes, count: context.count + 1, attempts: 0, openedAtMs: null, fault: null });

/** Identity of the handle that is wanted now: release digest, connectionVersion, count. */
export function generationOf(context: RouteContext): string {
  return `${context.device?.release.digest ?? '-'}.${context.read?.entry.connectionVersion ?? '0'}.${String(context.count)}`;
}

export function reject(context: RouteContext, { position, atMs }: RouteEvidenceOf<'rejected'>): RouteContext {
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

export function liftOverlay(overlay: Overlay | null, entry: Entry, read: ReadEvidence): Overlay | null {
  if (overlay === null || read.startedAt < overlay.position || entry.state !== 'connected') return overlay;
  const changed =
    overlay.connectionVersion !== entry.connectionVersion || overlay.connectionIdHash !== entry.connectionIdHash;
  if (changed || read.atMs >= overlay.holdUntilMs) return null;
  return overlay.confirmed ? overlay : { ...overlay, confirmed: true };
}

export const settleOpen = (context: RouteContext, { atMs }: RouteEvidenceOf<'opened'>): RouteContext => {
  if (context.openedAtMs === atMs && context.fault === null) return context;
  const { overlay, strikes, count, attempts } = context;
  return tried(context, { overlay, strikes, count, attempts, openedAtMs: atMs, fault: null });
};

/** 1, 2, 4 … 300 s with ±25 % of jitter; never sooner than the other side asked for. */
export function fail(context: RouteContext, evidence: RouteEvidenceOf<'failed'>): RouteContext {
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

export function passTime(context: RouteContext, { nowMs }: RouteEvidenceOf<'ticked'>): RouteContext {
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
