/** The edge of a real process: its clocks, its randomness, its timers. */
import { nanoid } from 'nanoid';
import { performance } from 'node:perf_hooks';
import type { Edge } from './edge.ts';

const MAX_DELAY_MS = 3_600_000;
/** Below this the wall clock is being slewed, not moved: following it would only add noise. */
const RESYNC_MS = 1_000;
const STAMP_DIGITS = 9;

/** @param notBefore `at` of the newest event recorded, so that time does not go back over a restart either. */
export function systemEdge(notBefore = 0): Edge {
  const now = forwardClock(Date.now, () => performance.now(), notBefore);
  return { now, newId: () => orderedId(now()), wake };
}

/**
 * A clock that advances by the monotonic clock from one reading of the wall clock, and follows the wall clock forward only: a
 * laptop that slept goes on at the right time, a clock set back an hour changes nothing. Whole ms.
 */
export function forwardClock(wall: () => number, monotonic: () => number, notBefore: number): () => number {
  let offset = Math.max(wall(), notBefore) - monotonic();
  let last = notBefore;
  return () => {
    const behind = wall() - (offset + monotonic());
    if (behind > RESYNC_MS) offset += behind;
    last = Math.max(last, Math.floor(offset + monotonic()));
    return last;
  };
}

/**
 * A nanoid behind the time in base 36. The time is there for the index of ids alone: random ids touch a page each, ids that rise
 * touch the last page, and an append costs a third.
 */
export function orderedId(at: number): string {
  return at.toString(36).padStart(STAMP_DIGITS, '0') + nanoid(13);
}

/** Clamped, because a delay of 2^31 ms or more fires at once. */
function wake(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, Math.min(Math.max(ms, 0), MAX_DELAY_MS) || 0);
  return () => clearTimeout(timer);
}
