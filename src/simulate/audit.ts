/**
 * Holds a log against the laws: folds it with the shipped core, remembers from the events alone what was said, opened, shown and
 * refused, and compares the table with that memory at every position. Works on any log, also one from a user's machine.
 */
import { compareStamps, compareUint64, type LoggedEvent, type LoggedEventOf, type Stamp } from '../events/index.ts';
import { generationOf, needsAuthorization, routeDeadline } from '../machines/index.ts';
import {
  allRoutes,
  dueForRoute,
  evolve,
  findRoute,
  initialState,
  LiveTable,
  nextWake,
  routeKey,
  ScanDeadlines,
  standingOf,
  type AccountRecord,
  type PublishedRoute,
  type RouteRecord,
  type State,
  type Turn,
} from '../reconcile/index.ts';
import type { Law, Violation } from './law.ts';

type Reply = LoggedEventOf<'snapshot.received'>;
type Context = AccountRecord['machine']['context'];

/** A route that was refused and may not be shown again until a later read has said connected. */
interface Rejection {
  readonly position: number;
  readonly untilMs: number;
  readonly connectionIdHash: string | null;
  readonly connectionVersion: string | null;
  confirmed: boolean;
  changed: boolean;
}

/** What held before an event, as far as the laws ask. */
interface Before {
  /** Of the account that the event names, or else the active one. */
  readonly account: Context | undefined;
  readonly known: ReadonlySet<string> | undefined;
  readonly route: RouteRecord | undefined;
  /** All of them, where the event is a start. */
  readonly routes: readonly RouteRecord[];
  readonly exempt: readonly RouteRecord[];
  readonly exemptShown: readonly PublishedRoute[];
}

/** Events that concern accounts, and so must leave exempt routes alone. */
const ofAccounts = new Set<string>([
  ...['account.activated', 'account.cleared', 'snapshot.received', 'snapshot.failed', 'hint.received'],
  ...['hints.opened', 'hints.lost', 'call.rejected', 'connection.dropping', 'connection.dropped'],
  ...['connection.dropFailed', 'authorization.ended', 'server.reset'],
]);

export class Audit {
  readonly state: State = initialState(new ScanDeadlines());
  readonly table = new LiveTable();
  readonly violations: Violation[] = [];
  /** How often each interesting thing was seen: a world that was nowhere has proven nothing. */
  readonly places = new Map<string, number>();
  #active: { readonly account: string; readonly epoch: number } | null = null;
  #epochs = 0;
  /** Of this login: connector → what replies said of it while it was connected, as revision/version. */
  #told = new Map<string, Set<string>>();
  /** Handles reported as open, by route, generation and epoch. */
  #handles = new Map<string, { readonly position: number; readonly digest: string }>();
  readonly #shown = new Map<string, Stamp>();
  readonly #closed = new Set<string>();
  readonly #rejections = new Map<string, Rejection>();
  readonly #strikes = new Map<string, { readonly of: string; readonly k: number }>();
  readonly #rejected = new Set<string>();
  readonly #meanings = new Map<string, string>();
  readonly #outcomes = new Set<object>();
  #position = 0;

  /** Takes the next event of the log. */
  take(event: LoggedEvent): void {
    this.#position = event.position;
    const { state } = this;
    const quiet = (nextWake(state) ?? Infinity) > Math.max(event.at, state.head.now);
    const before = this.#recall(event);
    const turn = evolve(state, event);
    this.#hear(event, before);
    const names = touchedBy(turn, state);
    this.#show(names);
    this.#checkTable();
    for (const { account, connector } of names) this.#checkRoute(findRoute(state, account, connector));
    this.#checkEvent(event, before, turn, quiet);
  }

  /** What is looked at before and after. */
  #recall(event: LoggedEvent): Before {
    const { state } = this;
    const account = 'account' in event.data && event.data.account !== null ? event.data.account : this.#active?.account;
    const connector = 'connector' in event.data ? event.data.connector : null;
    return {
      account: account === undefined ? undefined : state.accounts.get(account)?.machine.context,
      route: account === undefined || connector === null ? undefined : findRoute(state, account, connector),
      routes: event.type === 'engine.started' ? [...allRoutes(state)] : [],
      known: account === undefined ? undefined : new Set(state.routes.get(account)?.keys()),
      exempt: [...(state.routes.get('')?.values() ?? [])],
      exemptShown: [...this.table.entries.values()].filter((route) => route.account === null),
    };
  }

  /** Memory made from the event alone. */
  #hear(event: LoggedEvent, before: Before): void {
    switch (event.type) {
      case 'engine.started':
        this.#active = null;
        this.#epochs++;
        this.#handles.clear();
        return;
      case 'account.activated':
        this.#active = event.data.epoch > this.#epochs ? { ...event.data } : null;
        this.#epochs = Math.max(this.#epochs, event.data.epoch);
        this.#told.clear();
        return;
      case 'account.cleared':
        this.#active = null;
        this.#epochs = Math.max(this.#epochs, event.data.epoch);
        return;
      case 'snapshot.received':
        if (this.#isCurrent(event.data)) this.#hearReply(event, before.account, before.known);
        return;
      case 'route.opened': {
        const { tools } = event.data;
        this.#handles.set(handleKey(event.data), { position: event.position, digest: tools.digest });
        return;
      }
      case 'route.closed':
      case 'route.exited':
        this.#handles.delete(handleKey(event.data));
        return;
      case 'call.rejected':
        return this.#hearRejection(event, before.route);
      case 'route.openFailed':
        if (event.data.reason === 'rejected') this.#hearRejection(event, before.route);
        return;
      default:
    }
  }

  #isCurrent({ account, epoch }: { account: string | null; epoch: number }): boolean {
    return this.#active !== null && account === this.#active.account && epoch === this.#active.epoch;
  }

  #hearReply({ data, at }: Reply, before: Context | undefined, known: ReadonlySet<string> | undefined): void {
    const context = this.state.accounts.get(data.account)?.machine.context;
    if (context === undefined || before === undefined) return;
    const accepted = context.acceptedAtMs === at;
    const counted = isOfLine(data, before, context);
    for (const connector of new Set([...Object.keys(data.entries), ...(data.complete ? (known ?? []) : [])])) {
      const entry = data.entries[connector] ?? null;
      if (entry === 'unreadable') continue;
      if (entry?.state === 'connected') {
        const told = this.#told.get(connector) ?? new Set();
        this.#told.set(connector, told.add(`${data.revision}/${entry.connectionVersion}`));
        if (accepted) this.#confirm(routeKey(data.account, connector), data.startedAt, entry);
      } else if (counted && known?.has(connector) === true)
        this.#closed.add(`${routeKey(data.account, connector)} ${String(context.line)}/${data.revision}`);
    }
  }

  #confirm(
    key: string,
    startedAt: number,
    entry: { connectionIdHash: string | null; connectionVersion: string },
  ): void {
    const rejection = this.#rejections.get(key);
    if (rejection === undefined || startedAt < rejection.position) return;
    const same =
      entry.connectionIdHash === rejection.connectionIdHash && entry.connectionVersion === rejection.connectionVersion;
    if (same) rejection.confirmed = true;
    else rejection.changed = true;
  }

  /** A refusal counts if it speaks of the login that holds and the generation that is wanted. */
  #hearRejection(event: LoggedEventOf<'call.rejected' | 'route.openFailed'>, route: RouteRecord | undefined): void {
    const { data, position, at } = event;
    if (data.account === null || route === undefined || !this.#isCurrent(data)) return;
    if (generationOf(route.machine.context) !== data.generation) return;
    this.#place('rejected');
    const key = routeKey(data.account, data.connector);
    const { read, device } = route.machine.context;
    const connectionIdHash = read?.entry.connectionIdHash ?? null;
    const connectionVersion = read?.entry.connectionVersion ?? null;
    const of = `${String(connectionIdHash)}/${String(connectionVersion)}`;
    const held = this.#strikes.get(key);
    const k = held?.of === of ? held.k + 1 : 1;
    this.#strikes.set(key, { of, k });
    this.#rejected.add(handleKey(data));
    this.#rejections.set(key, {
      position,
      untilMs: at + Math.min(2 ** k * 1000, 300_000),
      connectionIdHash,
      connectionVersion,
      confirmed: device !== null && !needsAuthorization(device),
      changed: false,
    });
  }

  #show(names: readonly { readonly account: string | null; readonly connector: string }[]): void {
    const before = new Map(this.table.entries);
    this.table.withdraw(this.state, names);
    for (const key of before.keys()) if (!this.table.entries.has(key)) this.#place('withdrawn');
    this.table.publish(this.state, names);
    for (const [key, route] of this.table.entries) if (before.get(key) !== route) this.#appear(key, route);
  }

  #appear(key: string, route: PublishedRoute): void {
    this.#place('published');
    const handle = this.#handles.get(handleKey(route));
    if (handle?.digest !== route.tools.digest) this.#break('L7', `${key} is shown without a handle of its own`);
    if (this.#rejected.has(handleKey(route))) this.#break('L5', `${key} is shown by a handle that was refused`);
    this.#checkLifted(key, handle?.position ?? 0);
    if (route.stamp === null || route.account === null) return;
    const known = findRoute(this.state, route.account, route.connector)?.machine.context.device;
    if (known == null || !needsAuthorization(known)) return;
    const said = `${route.stamp.revision}/${String(route.connectionVersion)}`;
    if (this.#told.get(route.connector)?.has(said) !== true)
      this.#break('L2', `${key} is shown at ${said}, which no read of this login has said`);
    const shown = this.#shown.get(key);
    if (shown !== undefined && compareStamps(route.stamp, shown) < 0)
      this.#break('L3', `${key} went back from ${stampText(shown)} to ${stampText(route.stamp)}`);
    this.#shown.set(key, route.stamp);
  }

  /** Law L5: shown again only after a later read that said connected, and on the same connection after the hold-off. */
  #checkLifted(key: string, openedAt: number): void {
    const rejection = this.#rejections.get(key);
    if (rejection === undefined) return;
    if (openedAt < rejection.position) this.#break('L5', `${key} is shown by a handle opened before it was refused`);
    const waited = rejection.confirmed && this.state.head.now >= rejection.untilMs;
    if (!rejection.changed && !waited) this.#break('L5', `${key} is shown although nothing has lifted its refusal`);
    this.#place('lifted');
    this.#rejections.delete(key);
  }

  #checkTable(): void {
    for (const [key, { account, epoch, stamp }] of this.table.entries) {
      if (account === null) continue;
      if (account !== this.#active?.account) this.#break('L1', `${key} is shown, and its account is not active`);
      else if (epoch !== this.#active.epoch) this.#break('L7', `${key} is shown by a handle of login ${String(epoch)}`);
      if (stamp !== null && this.#closed.has(`${key} ${stampText(stamp)}`))
        this.#break('L4', `${key} is shown at ${stampText(stamp)}, where a read said closed`);
    }
  }

  /** What is owed is the difference between desired and observed, no more and no less; and the fence never has to refuse. */
  #checkRoute(route: RouteRecord | undefined): void {
    if (route === undefined) return;
    const { wanted, epoch } = standingOf(this.state, route);
    const generation = wanted ? generationOf(route.machine.context) : null;
    const isRight = (of: { generation: string; epoch: number }): boolean =>
      of.generation === generation && of.epoch === epoch;
    const owed = dueForRoute(this.state, route);
    const closes = owed.filter(({ kind }) => kind === 'closeRoute');
    const open = route.handles.some(isRight);
    const key = routeKey(route.account, route.connector);
    if (closes.length !== route.handles.filter((handle) => !isRight(handle)).length || closes.some(isRight))
      this.#break('L11', `what is to be closed of ${key} is not what is open and unwanted`);
    if (owed.length - closes.length !== (generation !== null && !open ? 1 : 0))
      this.#break('L11', `what is to be opened of ${key} is not what is wanted and not open`);
    const shown = this.table.entries.get(key);
    if (wanted && open && shown === undefined) this.#break('L3', `the fence had to refuse ${key}`);
    if (shown !== undefined) this.#checkMeaning(key, shown, route);
  }

  /** Law L18: one generation is one release, one connection and one version of it. */
  #checkMeaning(key: string, shown: PublishedRoute, { machine: { context } }: RouteRecord): void {
    const entry = context.read?.entry;
    const meaning = `${String(context.device?.release.digest)} ${String(entry?.connectionVersion)} ${String(entry?.connectionIdHash)}`;
    const named = `${key} ${shown.generation}`;
    const held = this.#meanings.get(named);
    if (held !== undefined && held !== meaning)
      this.#break('L18', `${named} was opened for ${held} and is shown for ${meaning}`);
    this.#meanings.set(named, meaning);
  }

  #checkEvent(event: LoggedEvent, before: Before, turn: Turn, quiet: boolean): void {
    if (event.type.startsWith('route.') || event.type.startsWith('snapshot.')) this.#checkOutcome(event);
    if (event.type === 'engine.started') this.#checkStart(before.routes);
    else if (before.account !== undefined) this.#checkWish(event, before.account);
    if (quiet && ofAccounts.has(event.type)) this.#checkExempt(before.exempt, before.exemptShown);
    if (event.type === 'call.rejected') this.#checkRejection(event, before.route, turn, quiet);
  }

  #checkOutcome({ type, data, cause }: LoggedEvent): void {
    if (cause === null) return;
    if (this.#outcomes.has(data)) this.#break('L14', `one effect ended in two events, the second a ${type}`);
    this.#outcomes.add(data);
  }

  /** Law L12: a start takes handles and logins away, and nothing else. */
  #checkStart(before: readonly RouteRecord[]): void {
    for (const route of before) {
      const after = findRoute(this.state, route.account, route.connector);
      const timely = (routeDeadline(route.machine.context) ?? Infinity) <= this.state.head.now;
      if ((after?.machine !== route.machine && !timely) || after?.fence !== route.fence || after.handles.length > 0)
        this.#break('L12', `a start changed what is known of ${routeKey(route.account, route.connector)}`);
    }
    if (this.table.entries.size > 0) this.#break('L12', 'something is shown right after a start');
  }

  #checkExempt(before: readonly RouteRecord[], shown: readonly PublishedRoute[]): void {
    for (const route of before)
      if (findRoute(this.state, null, route.connector) !== route)
        this.#break('L15', `an event of an account changed ${route.connector} of this device`);
    for (const route of shown)
      if (this.table.entries.get(routeKey(null, route.connector)) !== route)
        this.#break('L15', `an event of an account withdrew ${route.connector} of this device`);
  }

  #checkRejection(
    { data }: LoggedEventOf<'call.rejected'>,
    before: RouteRecord | undefined,
    turn: Turn,
    quiet: boolean,
  ): void {
    const key = routeKey(data.account, data.connector);
    const current = before !== undefined && generationOf(before.machine.context) === data.generation;
    if (this.#isCurrent(data) && current) {
      if (this.table.entries.has(key)) this.#break('L5', `${key} is still shown in the turn that refused it`);
    } else {
      this.#place('rejected late');
      if (quiet && turn.changed) this.#break('L6', `a refusal of another login or generation changed something`);
    }
  }

  /** Law L11, and its other half: what must make a wish does. */
  #checkWish(event: LoggedEvent, before: Context): void {
    const account = 'account' in event.data && event.data.account !== null ? event.data.account : this.#active?.account;
    const context = account === undefined ? undefined : this.state.accounts.get(account)?.machine.context;
    if (context === undefined || context.epoch === null) return;
    if (before.wish !== null && context.wish === null && before.epoch === context.epoch) {
      const ended = event.type === 'snapshot.received' && event.data.complete && event.data.startedAt >= before.wish;
      if (!ended) this.#break('L11', `a ${event.type} ended a wish`);
      this.#place('wish ended');
    }
    if (makesWish(event) && context.wish === null) this.#break('L11', `a ${event.type} made no wish`);
    if (before.wanted !== null && context.wanted === null && !mayForget(event, before))
      this.#break('L11', `a ${event.type} forgot the revision that was wanted`);
  }

  #place(name: string): void {
    this.places.set(name, (this.places.get(name) ?? 0) + 1);
  }

  #break(law: Law, text: string): void {
    this.violations.push({ law, position: this.#position, text });
  }
}

/** Whether a read speaks of the line that is held after it, at or above what is already believed. */
function isOfLine(data: Reply['data'], before: Context, after: Context): boolean {
  if (after.line !== before.line) return true;
  if (data.startedAt < before.resetAt) return false;
  if (data.serverEpoch !== null && before.serverEpoch !== null && data.serverEpoch !== before.serverEpoch) return false;
  return before.floor === null || compareUint64(data.revision, before.floor) >= 0;
}

function makesWish(event: LoggedEvent): boolean {
  if (event.type === 'hints.opened' || event.type === 'account.activated') return true;
  return event.type === 'clock.ticked' && event.data.reason === 'poll';
}

/** A wanted revision is forgotten when it is reached, given up after three short reads, or left behind with its line. */
function mayForget(event: LoggedEvent, before: Context): boolean {
  if (event.type === 'server.reset') return true;
  if (event.type !== 'snapshot.received') return false;
  const { revision, serverEpoch } = event.data;
  const reached = before.wanted !== null && compareUint64(revision, before.wanted.revision) >= 0;
  const adopted = (serverEpoch !== null && before.serverEpoch !== null) || (before.dissents?.count ?? 0) >= 2;
  return reached || adopted || (before.wanted?.shorts?.count ?? 0) >= 2;
}

/** Routes that a turn may have changed, each once. */
function touchedBy(turn: Turn, state: State): readonly RouteRecord[] {
  if (turn.upheaved.length === 0 && turn.routes.length < 2) return turn.routes;
  const upheaved = turn.upheaved.flatMap((account) => [...(state.routes.get(account)?.values() ?? [])]);
  const all = [...turn.routes, ...upheaved];
  return [...new Map(all.map((route) => [routeKey(route.account, route.connector), route])).values()];
}

interface OfHandle {
  readonly account: string | null;
  readonly connector: string;
  readonly generation: string;
  readonly epoch: number;
}
const handleKey = ({ account, connector, generation, epoch }: OfHandle): string =>
  `${routeKey(account, connector)} ${generation} ${String(epoch)}`;

const stampText = ({ line, revision }: Stamp): string => `${String(line)}/${revision}`;
