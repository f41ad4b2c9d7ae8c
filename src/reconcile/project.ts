/**
 * The projector: which routes may be seen now. Desired and observed, of the active account, of this login, and never older than
 * what was shown before. Belief already decides by freshness on the way in; the fence here decides once more on the way out, so
 * that a mistake in either is not a route shown in error. If it ever has to refuse, that is an anomaly. Laws L1–L3, L7.
 */
import { compareStamps, compareUint64, type Stamp, type Uint64 } from '../events/index.ts';
import { generationOf, type RouteContext } from '../machines/index.ts';
import { standingOf } from './standing.ts';
import type { Fence, Handle, RouteKey, RouteRecord, State } from './state.ts';

export interface PublishedRoute {
  readonly account: string | null;
  readonly connector: string;
  readonly generation: string;
  readonly epoch: number;
  /** `null` for a route whose visibility no snapshot decides. */
  readonly stamp: Stamp | null;
  readonly connectionVersion: Uint64 | null;
  readonly tools: { readonly count: number; readonly digest: string };
}

/** What agents may see now, by route key. A live view: look things up in it, never keep it. */
export type RouteTable = ReadonlyMap<RouteKey, PublishedRoute>;

/** The route as it may be seen, or `null`. */
export function project(state: State, route: RouteRecord): PublishedRoute | null {
  const handle = wantedHandle(state, route);
  if (handle === undefined || !fenceAdmits(route)) return null;
  const { read } = route.machine.context;
  return {
    account: route.account,
    connector: route.connector,
    generation: handle.generation,
    epoch: handle.epoch,
    stamp: read?.stamp ?? null,
    connectionVersion: read?.entry.connectionVersion ?? null,
    tools: handle.tools,
  };
}

/** Whether the fence alone keeps a route from being seen: what is believed of it is older than what was shown, so one of them is wrong. */
export const isFenced = (state: State, route: RouteRecord): boolean =>
  route.handles.length > 0 && !fenceAdmits(route) && wantedHandle(state, route) !== undefined;

/** The open handle that is wanted now, as far as account and belief decide. */
function wantedHandle(state: State, route: RouteRecord): Handle | undefined {
  const { wanted, epoch } = standingOf(state, route);
  return wanted ? handleOf(route, generationOf(route.machine.context), epoch) : undefined;
}

export const handleOf = (route: RouteRecord, generation: string, epoch: number): Handle | undefined =>
  route.handles.find((handle) => handle.generation === generation && handle.epoch === epoch);

/** Whether a fence still binds the version: of the same connection, and the high-water has not fallen since. */
const sameWater = (fence: Fence, connectionIdHash: string | null, { falls }: RouteContext): boolean =>
  fence.connectionIdHash === connectionIdHash && fence.falls === falls;

/** The fence after a route's belief has been looked at, open or closed: it remembers the highest that was ever there. */
export function raiseFence(fence: Fence | null, context: RouteContext): Fence | null {
  const { read } = context;
  if (read === null) return fence;
  const { falls } = context;
  const { connectionVersion, connectionIdHash } = read.entry;
  if (fence === null || read.stamp.line > fence.stamp.line || !sameWater(fence, connectionIdHash, context)) {
    const stamp = fence === null || compareStamps(read.stamp, fence.stamp) > 0 ? read.stamp : fence.stamp;
    return { stamp, connectionVersion, connectionIdHash, falls };
  }
  const higher = compareStamps(read.stamp, fence.stamp) > 0;
  const newer = compareUint64(connectionVersion, fence.connectionVersion) > 0;
  if (!higher && !newer) return fence;
  return {
    stamp: higher ? read.stamp : fence.stamp,
    connectionVersion: newer ? connectionVersion : fence.connectionVersion,
    connectionIdHash,
    falls,
  };
}

/** Whether what is believed of a route is at least as fresh as everything shown before. */
export function fenceAdmits({ fence, machine: { context } }: RouteRecord): boolean {
  if (fence === null || context.read === null) return true;
  if (compareStamps(context.read.stamp, fence.stamp) < 0) return false;
  const { connectionIdHash, connectionVersion } = context.read.entry;
  return !sameWater(fence, connectionIdHash, context) || compareUint64(connectionVersion, fence.connectionVersion) >= 0;
}
