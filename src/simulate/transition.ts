/**
 * What one event may do to one record, as laws over before and after. Nothing is remembered from further back, so the audit of a log
 * and the exploration of all worlds ask the same questions.
 */
import { closedness, compareStamps, compareUint64, type LoggedEvent, type LoggedEventOf } from '../events/index.ts';
import { generationOf, type AccountContext, type RouteContext } from '../machines/index.ts';
import { dueForRoute, project, standingOf, type Handle, type RouteRecord, type State } from '../reconcile/index.ts';
import type { Law } from './law.ts';

/** A law and what is wrong, or `null`. */
export type Broken = readonly [Law, string] | null;

/** What is known of an event besides itself. */
export interface Circumstances {
  /** Whether it speaks of the login that holds. */
  readonly current: boolean;
  /** Time after the event, in ms since epoch. */
  readonly nowMs: number;
}

/** The first law that a step of a route breaks. */
export function routeStep(event: LoggedEvent, before: RouteRecord, after: RouteRecord, around: Circumstances): Broken {
  const [from, to] = [before.machine.context, after.machine.context];
  return (
    generationStep(from, to) ??
    handleStep(event, before, after) ??
    freshnessStep(before, after) ??
    seenStep(event, before, after, around) ??
    overlayStep(event, before, from, to, around) ??
    tombstoneStep(event, before, from, to, around)
  );
}

/** A generation is one release, one version and one connection, and never comes back (laws L5, L18). */
function generationStep(from: RouteContext, to: RouteContext): Broken {
  if (to.count < from.count) return ['L5', 'the count of a generation fell: an old handle could be wanted again'];
  if (from.read === null || from.device === null || to.device === null) return null;
  const changed =
    from.device.release.digest !== to.device.release.digest ||
    from.read.entry.connectionVersion !== (to.read?.entry.connectionVersion ?? '0') ||
    from.read.entry.connectionIdHash !== (to.read?.entry.connectionIdHash ?? null);
  if (!changed || to.count > from.count) return null;
  return ['L18', 'release, version or connection changed, and the handle that is open for the old one is still wanted'];
}

/** Handles appear when they are opened and go when they are closed, die or lose their process; nothing else moves them (law L7). */
function handleStep(event: LoggedEvent, before: RouteRecord, after: RouteRecord): Broken {
  if (before.handles === after.handles) return null;
  if (event.type === 'engine.started')
    return after.handles.length === 0 ? null : ['L12', 'a handle outlived its process'];
  if (event.type !== 'route.opened' && event.type !== 'route.closed' && event.type !== 'route.exited')
    return ['L7', `a ${event.type} changed the handles that are open`];
  const rest = before.handles.filter((handle) => !isSame(handle, event.data));
  const wanted = event.type === 'route.opened' ? [...rest, event.data] : rest;
  const right =
    wanted.length === after.handles.length && wanted.every((one, index) => isSame(one, after.handles[index]!));
  return right ? null : ['L7', `a ${event.type} left other handles open than it said`];
}

type Named = Pick<Handle, 'generation' | 'epoch'>;
const isSame = (a: Named, b: Named): boolean => a.generation === b.generation && a.epoch === b.epoch;

/** Belief and fence never grow older, and at one stamp nothing opens that was closed (laws L3, L4). */
function freshnessStep(before: RouteRecord, after: RouteRecord): Broken {
  const [from, to] = [before.machine.context.read, after.machine.context.read];
  if (before.fence !== null && (after.fence === null || compareStamps(after.fence.stamp, before.fence.stamp) < 0))
    return ['L3', 'the fence was lowered'];
  if (from === null || to === null || from === to) return null;
  const order = compareStamps(to.stamp, from.stamp);
  if (order < 0) return ['L3', 'belief went back to an older stamp'];
  if (order === 0 && closedness[to.entry.state] < closedness[from.entry.state])
    return ['L4', 'at one stamp a closed connection was opened again'];
  return null;
}

/** Only a reply of this login that speaks of the connector makes it one that was read about (law L2). */
function seenStep(event: LoggedEvent, before: RouteRecord, after: RouteRecord, { current }: Circumstances): Broken {
  if (after.machine.context.seenIn === before.machine.context.seenIn) return null;
  const speaks =
    event.type === 'snapshot.received' &&
    (event.data.complete || Object.hasOwn(event.data.entries, before.connector)) &&
    event.data.entries[before.connector] !== 'unreadable';
  return speaks && current ? null : ['L2', `a ${event.type} counts as a read of this login`];
}

function overlayStep(
  event: LoggedEvent,
  before: RouteRecord,
  from: RouteContext,
  to: RouteContext,
  { current, nowMs }: Circumstances,
): Broken {
  if (isRefusalOf(event, before) && current && event.data.generation === generationOf(from)) {
    if (to.overlay === null || to.overlay.holdUntilMs < event.at + 2_000) return ['L5', 'a refusal was not kept'];
    return to.count > from.count ? null : ['L5', 'the handle that was refused is still the one that is wanted'];
  }
  if (from.overlay === null || from.overlay === to.overlay) return null;
  const { overlay } = from;
  const isTime = overlay.confirmed && nowMs >= overlay.holdUntilMs;
  if (to.overlay === null && isTime) return null;
  const entry = event.type === 'snapshot.received' ? event.data.entries[before.connector] : undefined;
  const later = event.type === 'snapshot.received' && current && event.data.startedAt >= overlay.position;
  if (!later || entry === undefined || entry === 'unreadable' || entry.state !== 'connected')
    return ['L5', `a ${event.type} lifted a refusal`];
  const other =
    entry.connectionVersion !== overlay.connectionVersion || entry.connectionIdHash !== overlay.connectionIdHash;
  if (to.overlay !== null || other || nowMs >= overlay.holdUntilMs) return null;
  return ['L5', 'a refusal was lifted before its time, on an unchanged connection'];
}

type Refusal = LoggedEventOf<'call.rejected' | 'route.openFailed'>;

/** Whether an event refuses this very route: several may have handles of one name. */
function isRefusalOf(event: LoggedEvent, { account, connector }: RouteRecord): event is Refusal {
  const refuses =
    event.type === 'call.rejected' || (event.type === 'route.openFailed' && event.data.reason === 'rejected');
  return refuses && event.data.account === account && event.data.connector === connector;
}

/** What was disconnected here comes back only by a read begun after the answer, or when the answer can't come any more. */
function tombstoneStep(
  event: LoggedEvent,
  { account }: RouteRecord,
  from: RouteContext,
  to: RouteContext,
  { current }: Circumstances,
): Broken {
  if (from.tombstone === null || to.tombstone !== null) return null;
  if (event.type === 'server.reset' && event.data.account === account && from.tombstone.answeredAt !== null)
    return null;
  const { answeredAt, epoch } = from.tombstone;
  const read = event.type === 'snapshot.received' && current ? event.data : null;
  if (read === null) return ['L5', `a ${event.type} brought back what was being disconnected`];
  const lost = answeredAt === null && read.epoch !== epoch;
  if (lost || (answeredAt !== null && read.startedAt >= answeredAt)) return null;
  // A new line forgets answered ones, whenever its read began.
  const adopted = answeredAt !== null && to.count > from.count;
  return adopted ? null : ['L5', 'a read from before the answer brought back what was being disconnected'];
}

/** The first law that a step of an account breaks: what it believes of the server, and what it still wants to read (laws L3, L11). */
export function accountStep(event: LoggedEvent, from: AccountContext, to: AccountContext, nowMs: number): Broken {
  if (to.line < from.line) return ['L3', 'a line of the server came back'];
  if (to.line > from.line && !mayAdopt(event, from, nowMs)) return ['L3', `a ${event.type} adopted another line`];
  const lower = from.floor !== null && (to.floor === null || compareUint64(to.floor, from.floor) < 0);
  if (lower && to.line === from.line) return ['L3', 'the floor of an account fell without a new line'];
  if (isBelow(event, from) && to.line === from.line && isAccepted(from, to))
    return ['L3', 'a read from below the floor was accepted'];
  return wishStep(event, from, to) ?? wantedStep(event, from, to);
}

const isBelow = (event: LoggedEvent, { floor }: AccountContext): boolean =>
  event.type === 'snapshot.received' && floor !== null && compareUint64(event.data.revision, floor) < 0;

/** What only an accepted read does: it is remembered, ends a wish, or ends the count of dissents. */
const isAccepted = (from: AccountContext, to: AccountContext): boolean =>
  to.acceptedAtMs !== from.acceptedAtMs ||
  (from.wish !== null && to.wish === null) ||
  (from.dissents !== null && to.dissents === null);

/** A server is taken for another one when it says so, when an operator does, or at the third dissent, a minute apart each. */
function mayAdopt(event: LoggedEvent, from: AccountContext, nowMs: number): boolean {
  if (event.type === 'server.reset') return true;
  if (event.type !== 'snapshot.received') return false;
  const { serverEpoch } = event.data;
  if (serverEpoch !== null && from.serverEpoch !== null && compareUint64(serverEpoch, from.serverEpoch) > 0)
    return true;
  return from.dissents !== null && from.dissents.count >= 2 && nowMs - from.dissents.lastAtMs >= 60_000;
}

function wishStep(event: LoggedEvent, from: AccountContext, to: AccountContext): Broken {
  if (to.epoch === null) return null;
  if (from.wish !== null && to.wish === null && from.epoch === to.epoch) {
    const read = event.type === 'snapshot.received' ? event.data : null;
    if (read === null || !read.complete || read.startedAt < from.wish)
      return ['L11', `a ${event.type} ended a wish that it could not fulfil`];
  }
  if (makesWish(event) && to.wish === null) return ['L11', `a ${event.type} made no wish`];
  return isNews(event, to) ? ['L11', 'a hint of a greater revision is not wanted'] : null;
}

/** Whether a hint speaks of a revision beyond what is known, and nobody wants to read it. */
function isNews(event: LoggedEvent, { floor, wanted }: AccountContext): boolean {
  if (event.type !== 'hint.received' || event.data.revision === null) return false;
  const { revision } = event.data;
  if (floor !== null && compareUint64(revision, floor) <= 0) return false;
  return wanted === null || compareUint64(wanted.revision, revision) < 0;
}

/** Events after which the account must be read, whatever was read before. */
export function makesWish(event: LoggedEvent): boolean {
  if (event.type === 'hints.opened' || event.type === 'account.activated') return true;
  return event.type === 'clock.ticked' && event.data.reason === 'poll';
}

/** A revision that was wanted is forgotten when it is reached, given up after three short reads, or left behind with its line. */
function wantedStep(event: LoggedEvent, from: AccountContext, to: AccountContext): Broken {
  if (from.wanted === null || to.wanted !== null || to.line > from.line) return null;
  const read = event.type === 'snapshot.received' ? event.data : null;
  const reached = read !== null && compareUint64(read.revision, from.wanted.revision) >= 0;
  const givenUp = read !== null && (from.wanted.shorts?.count ?? 0) >= 2;
  return reached || givenUp ? null : ['L11', `a ${event.type} forgot the revision that was wanted`];
}

/** What is owed for a route is the difference between desired and observed, and the fence never has to refuse (laws L3, L11). */
export function routeOwes(state: State, route: RouteRecord): Broken {
  const { wanted, epoch } = standingOf(state, route);
  const generation = wanted ? generationOf(route.machine.context) : null;
  let open = false;
  let stray = 0;
  for (const handle of route.handles)
    if (handle.generation === generation && handle.epoch === epoch) open = true;
    else stray++;
  let closes = 0;
  const owed = dueForRoute(state, route);
  for (const { kind, generation: of, epoch: at } of owed) {
    if (kind !== 'closeRoute') continue;
    closes++;
    if (of === generation && at === epoch) return ['L11', 'the handle that is wanted is to be closed'];
  }
  if (closes !== stray) return ['L11', 'what is to be closed is not what is open and unwanted'];
  if (owed.length - closes !== (generation !== null && !open ? 1 : 0))
    return ['L11', 'what is to be opened is not what is wanted and not open'];
  return wanted && open && project(state, route) === null ? ['L3', 'the fence had to refuse'] : null;
}
