/**
 * The fold: state × event → state. Cuts an event into evidence for the account and for each route it concerns, and hands it to the
 * machines. Deterministic; one arm per event of the catalogue; what an event of another epoch or generation says is recorded and
 * changes nothing (law L6). DESIGN 5.2, 5.4.
 */
import {
  SCHEMA,
  compareUint64,
  isEventType,
  isUnknown,
  type FactOf,
  type LoggedEvent,
  type RecordedEvent,
} from '../events/index.ts';
import { generationOf, isExempt, needsAuthorization, type Device } from '../machines/index.ts';
import { currentDeadline, type Alarm } from './deadlines.ts';
import { foldSnapshot } from './foldSnapshot.ts';
import { jitterOf } from './fingerprint.ts';
import { isFenced } from './project.ts';
import { allRoutes, findRoute, openRoutes, type Handle, type RouteRecord, type State } from './state.ts';
import { standingOf } from './standing.ts';
import { Turn } from './turn.ts';

/** Folds one event into the state, in place, and returns the turn: what it touched, and the way back. */
export function evolve(state: State, event: RecordedEvent): Turn {
  const turn = new Turn(state, event.position);
  const nowMs = Math.max(state.head.now, event.at);
  // Asked before the clock moves: afterwards nothing waits for an instant that has passed, and nobody would be told of it.
  const alarms = state.deadlines.take(state, nowMs);
  turn.moveTo(event.position, nowMs);
  if (alarms.length > 0) passTime(turn, alarms);
  if (isKnown(event)) fold(turn, event);
  else foldForeign(turn, event.data['connector']);
  watchFence(turn);
  return turn;
}

/** A row whose content was redacted bears a type of the catalogue and has nothing to say: it is foreign like a newer one. */
const isKnown = (event: RecordedEvent): event is LoggedEvent =>
  !isUnknown(event) && event.schema <= SCHEMA && isEventType(event.type);

/** Every event moves the clock, so whatever waited for this instant is told before the event itself. */
function passTime(turn: Turn, alarms: readonly Alarm[]): void {
  const { state } = turn;
  const nowMs = state.head.now;
  turn.changed = true;
  for (const { account, connector } of alarms) {
    if (connector === null) {
      turn.giveAccount(account ?? '', { type: 'ticked', nowMs });
      turn.accounts.push(account ?? '');
    } else turn.give(turn.route(account, connector), { type: 'ticked', nowMs });
    // An account waits for two things, a fetch and its age: when one has come, the other one is still to come.
    const atMs = currentDeadline(state, account, connector);
    if (atMs !== null) state.deadlines.note({ atMs, account, connector });
  }
}

/** What the fence has to refuse, belief should have refused: somebody should look. */
function watchFence(turn: Turn): void {
  const { state } = turn;
  let refused: Set<RouteRecord> | undefined;
  for (const route of turn.routes) {
    const { account, connector } = route;
    if (!isFenced(state, route) || findRoute(state, account, connector) !== route) continue;
    // Looked at twice is refused once.
    if (refused?.has(route) !== true) turn.anomaly('fence-refused', account, connector);
    refused = (refused ?? new Set()).add(route);
  }
}

function fold(turn: Turn, event: LoggedEvent): void {
  const { position } = event;
  // Not the event's own time, should that be an older one: what waits from then on would have waited already.
  const atMs = turn.state.head.now;
  switch (event.type) {
    case 'engine.started':
      return start(turn);
    case 'account.activated':
      return activate(turn, event.data.account, event.data.epoch, atMs);
    case 'account.cleared':
      leave(turn);
      return turn.setHead({ epochs: Math.max(turn.state.head.epochs, event.data.epoch) });
    case 'connector.installed':
      return install(turn, event.data.connector, deviceOf(event.data));
    case 'connector.removed':
      return install(turn, event.data.connector, null);
    case 'connector.toggled':
      return toggle(turn, event.data.connector, event.data.enabled);
    case 'install.failed':
      return turn.anomaly('install-failed', null, event.data.connector);
    case 'snapshot.received':
      return isCurrent(turn, event.data) ? foldSnapshot(turn, event.data, atMs) : undefined;
    case 'snapshot.failed':
      if (!isCurrent(turn, event.data)) return undefined;
      turn.giveAccount(event.data.account, {
        type: 'failed',
        atMs,
        retryAfterMs: event.data.retryAfterMs ?? 0,
        jitter: jitterOf(event.id),
      });
      return undefined;
    case 'hint.received':
      return hint(turn, event.data.account, event.data.revision, atMs);
    case 'hints.opened':
      return wish(turn, atMs);
    case 'hints.lost':
      return undefined;
    case 'call.rejected':
      return reject(turn, event.data, atMs);
    case 'connection.dropping':
    case 'connection.dropped':
    case 'connection.dropFailed':
      return isCurrent(turn, event.data) ? drop(turn, event, atMs) : undefined;
    case 'authorization.ended':
      return isCurrent(turn, event.data) ? wish(turn, atMs) : undefined;
    case 'clock.ticked':
      return event.data.reason === 'poll' ? wish(turn, atMs) : undefined;
    case 'route.opened':
      return opened(turn, event.data, atMs);
    case 'route.openFailed':
      return openFailed(turn, event, atMs);
    case 'route.closed':
      closed(turn, event.data);
      return undefined;
    case 'route.exited':
      return exited(turn, event);
    case 'server.reset':
      return reset(turn, event.data.account, position, atMs);
  }
}

/** A row of a newer version says something about this connector that we can't read: it is withheld, not guessed. */
function foldForeign(turn: Turn, connector: unknown): void {
  if (typeof connector === 'string') turn.markForeign(connector);
  turn.anomaly('newer-event', null, typeof connector === 'string' ? connector : null);
  for (const route of [...allRoutes(turn.state)]) if (route.connector === connector) turn.putRoute({ ...route });
}

/** The login that an event names is the one that holds. Everything else is a late word of another one. */
const isCurrent = ({ state: { head } }: Turn, { account, epoch }: { account: string; epoch: number }): boolean =>
  head.active !== null && head.active.account === account && head.active.epoch === epoch;

function wish(turn: Turn, atMs: number): void {
  const { active } = turn.state.head;
  if (active !== null) turn.giveAccount(active.account, { type: 'wished', position: turn.position, atMs });
}

/** A start ends every epoch: nobody is signed in, and no handle of the process before is open. */
function start(turn: Turn): void {
  leave(turn);
  const boot = turn.state.head.epochs + 1;
  turn.setHead({ epochs: boot, boot, bootAt: turn.position });
  turn.upheaved.push('');
  turn.changed = true;
  for (const route of [...openRoutes(turn.state)]) turn.putRoute({ ...route, handles: [] });
}

function leave(turn: Turn): void {
  const { active } = turn.state.head;
  if (active === null) return;
  turn.giveAccount(active.account, { type: 'left' });
  turn.setHead({ active: null });
}

/** Law L1: in this one turn nothing of the old account is derivable, and nothing of the new one is yet read. A→B→A is three epochs. */
function activate(turn: Turn, account: string, epoch: number, atMs: number): void {
  leave(turn);
  turn.changed = true;
  if (epoch <= turn.state.head.epochs) return turn.anomaly('epoch-reused', account, null);
  turn.setHead({ epochs: epoch, active: { account, epoch, at: turn.position } });
  turn.giveAccount(account, { type: 'activated', position: turn.position, atMs, epoch });
  turn.upheaved.push(account);
  for (const [connector, { device }] of turn.state.connectors) {
    if (!isExempt(device)) turn.give(turn.route(account, connector), { type: 'device', device });
  }
}

const deviceOf = ({ release, kind, authorization, enabled, incompatible }: InstalledData): Device => {
  // The reason's words stay in the event: they may hold a name, and a redacted log must come to the same state.
  const sort = incompatible === null || incompatible === 'not-installed' ? incompatible : 'incompatible';
  return { release, kind, authorization, enabled, incompatible: sort };
};
type InstalledData = FactOf<'connector.installed'>['data'];

/** Tells every route of a connector what the device knows. Whether it belongs to the device or to accounts may change by release. */
function install(turn: Turn, connector: string, device: Device | null, boot = turn.state.head.boot): void {
  const { active } = turn.state.head;
  const known = turn.state.connectors.get(connector)?.device;
  const same = device !== null && known !== undefined && sameDevice(device, known) ? known : device;
  turn.putConnector(connector, same === null ? null : { device: same, boot });
  const exempt = same !== null && isExempt(same);
  if (exempt) turn.give(turn.route(null, connector), { type: 'device', device: same });
  else if (same !== null && active !== null)
    turn.give(turn.route(active.account, connector), { type: 'device', device: same });
  for (const [account, routes] of turn.state.routes) {
    const route = routes.get(connector);
    if (route === undefined) continue;
    const given = turn.give(route, { type: 'device', device: (account === '') === exempt ? same : null });
    // Logged again after a start: the machine knows it already, yet only now may the route be asked for. Looked at, not replaced: a
    // record that is put again is hashed again, and there is one for each account.
    if (given === route) turn.routes.push(route);
  }
  if (same !== null && active !== null && needsAuthorization(same)) wishIfUnread(turn, active, connector);
}

/** No read of this epoch has spoken about a connector that has just arrived: the next one must. Law L9. */
function wishIfUnread(turn: Turn, active: { account: string; epoch: number }, connector: string): void {
  const route = findRoute(turn.state, active.account, connector);
  if (route?.machine.context.seenIn !== active.epoch) wish(turn, turn.state.head.now);
}

function sameDevice(a: Device, b: Device): boolean {
  return (
    a.release.digest === b.release.digest &&
    a.release.version === b.release.version &&
    a.kind === b.kind &&
    a.authorization === b.authorization &&
    a.enabled === b.enabled &&
    a.incompatible === b.incompatible
  );
}

/** A switch reports no release: what this start has not reported stays unreported. */
function toggle(turn: Turn, connector: string, enabled: boolean): void {
  const installed = turn.state.connectors.get(connector);
  if (installed !== undefined) install(turn, connector, { ...installed.device, enabled }, installed.boot);
}

function hint(turn: Turn, account: string, revision: FactOf<'hint.received'>['data']['revision'], atMs: number): void {
  if (turn.state.head.active?.account !== account) return;
  const { position } = turn;
  if (revision === null) turn.giveAccount(account, { type: 'wished', position, atMs });
  else turn.giveAccount(account, { type: 'hinted', position, atMs, revision });
}

/** Law L5: withdrawn in this turn. Only the generation that is wanted now can be rejected; the account's revision plays no part. */
function reject(
  turn: Turn,
  data: { account: string; epoch: number; connector: string; generation: string },
  atMs: number,
): void {
  const route = findRoute(turn.state, data.account, data.connector);
  if (route === undefined || !isCurrent(turn, data) || data.generation !== generationOf(route.machine.context)) return;
  turn.give(route, { type: 'rejected', position: turn.position, atMs });
  wish(turn, atMs);
}

type Drop = FactOf<'connection.dropping'> | FactOf<'connection.dropped'> | FactOf<'connection.dropFailed'>;

function drop(turn: Turn, event: Drop, atMs: number): void {
  const { account, connector, epoch } = event.data;
  const route = turn.route(account, connector);
  const { position } = turn;
  if (event.type === 'connection.dropping') {
    const { line, floor } = turn.account(account).machine.context;
    turn.give(route, { type: 'dropping', position, epoch, line, floor });
  } else if (event.type === 'connection.dropFailed') turn.give(route, { type: 'dropFailed', position });
  else turn.give(route, { type: 'dropped', position, revision: event.data.revision });
  if (event.type === 'connection.dropped' && event.data.revision !== null)
    hint(turn, account, event.data.revision, atMs);
  wish(turn, atMs);
}

interface RouteOutcome {
  readonly account: string | null;
  readonly connector: string;
  readonly generation: string;
  readonly epoch: number;
}

/** Whether an outcome speaks of the handle that is wanted now (law L7). */
function isWantedNow(state: State, route: RouteRecord, { generation, epoch }: RouteOutcome): boolean {
  return epoch === standingOf(state, route).epoch && generation === generationOf(route.machine.context);
}

function opened(turn: Turn, data: FactOf<'route.opened'>['data'], atMs: number): void {
  // An outcome of a process before this one: whatever it opened died with it.
  if (data.epoch < turn.state.head.boot) return;
  const route = turn.route(data.account, data.connector);
  const handle: Handle = { generation: data.generation, epoch: data.epoch, tools: data.tools };
  const held = turn.putHandles(route, [...without(route, data), handle]);
  if (isWantedNow(turn.state, held, data)) turn.give(held, { type: 'opened', atMs });
}

const without = (route: RouteRecord, { generation, epoch }: RouteOutcome): Handle[] =>
  route.handles.filter((handle) => handle.generation !== generation || handle.epoch !== epoch);

function openFailed(turn: Turn, event: LoggedEvent & FactOf<'route.openFailed'>, atMs: number): void {
  const { data } = event;
  const route = findRoute(turn.state, data.account, data.connector);
  if (route === undefined || !isWantedNow(turn.state, route, data)) return;
  // We stopped it ourselves: it did not fail, and is owed again as if it had never been begun.
  if (data.reason === 'aborted') return;
  if (data.reason === 'rejected' && data.account !== null)
    return reject(turn, { ...data, account: data.account }, atMs);
  failWith(turn, route, event, { contract: data.reason === 'contract', retryAfterMs: data.retryAfterMs ?? 0 });
}

function failWith(
  turn: Turn,
  route: RouteRecord,
  event: LoggedEvent,
  how: { contract: boolean; retryAfterMs: number },
): void {
  turn.give(route, { type: 'failed', atMs: turn.state.head.now, jitter: jitterOf(event.id), ...how });
}

function closed(turn: Turn, data: RouteOutcome): RouteRecord | undefined {
  const route = findRoute(turn.state, data.account, data.connector);
  const handles = route === undefined ? [] : without(route, data);
  if (route === undefined || handles.length === route.handles.length) return undefined;
  return turn.putHandles(route, handles);
}

function exited(turn: Turn, event: LoggedEvent & FactOf<'route.exited'>): void {
  const route = closed(turn, event.data);
  if (route !== undefined && isWantedNow(turn.state, route, event.data))
    failWith(turn, route, event, { contract: false, retryAfterMs: 0 });
}

/** An operator accepts a server whose revision went back. Replies begun before are refused, so nothing is read in this turn. */
function reset(turn: Turn, account: string, position: number, atMs: number): void {
  turn.giveAccount(account, { type: 'reset', position, atMs });
  turn.anomaly('server-line-adopted', account, null);
  for (const route of [...(turn.state.routes.get(account)?.values() ?? [])]) turn.give(route, { type: 'adopted' });
}

/**
 * Whether an event that changed nothing may stay out of the log: a tick, or a hint at or below what is known. A hint for another
 * account is a row: that a server speaks to the wrong one is for an incident to know. DESIGN 5.1.
 */
export function isNoise(state: State, event: RecordedEvent): boolean {
  if (event.type === 'clock.ticked') return true;
  if (event.type !== 'hint.received' || !isKnown(event)) return false;
  const { account, revision } = event.data as FactOf<'hint.received'>['data'];
  const floor = state.accounts.get(account)?.machine.context.floor ?? null;
  return revision !== null && floor !== null && compareUint64(revision, floor) <= 0;
}
