/**
 * A disconnect that was asked for here: the route is hidden at once, and comes back only by a read that can know the server's answer.
 * Apart from `belief.ts`, because reads and that answer overlap: what was read before it may still say connected. Model-checked as
 * belief is.
 */
import { compareUint64, type Stamp } from '../events/index.ts';
import type { ReadEvidence, RouteEvidenceOf } from './evidence.ts';
import type { RouteContext, Tombstone } from './routeContext.ts';

export const bury = (context: RouteContext, { epoch, line, floor }: RouteEvidenceOf<'dropping'>): RouteContext => ({
  ...context,
  tombstone: { epoch, line, floor, answeredAt: null, needs: 'any' },
});

export function answerDrop(context: RouteContext, { position, revision }: RouteEvidenceOf<'dropped'>): RouteContext {
  const tombstone = context.tombstone;
  if (tombstone === null) return context;
  const known = tombstone.floor === null ? ('any' as const) : { above: tombstone.floor };
  return {
    ...context,
    tombstone: { ...tombstone, answeredAt: position, needs: revision === null ? known : { atLeast: revision } },
  };
}

export function failDrop(context: RouteContext, { position }: RouteEvidenceOf<'dropFailed'>): RouteContext {
  return context.tombstone === null
    ? context
    : { ...context, tombstone: { ...context.tombstone, answeredAt: position, needs: 'any' } };
}

/** The revision that a tombstone waits for will not come: any read begun after the answer will do. */
export function freeTombstone(context: RouteContext): RouteContext {
  const waits = context.tombstone !== null && context.tombstone.needs !== 'any';
  return waits ? { ...context, tombstone: { ...context.tombstone, needs: 'any' } } : context;
}

export function liftTombstone(tombstone: Tombstone | null, read: ReadEvidence): Tombstone | null {
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
