/**
 * Holds a log against the laws: folds it with the shipped core and compares, at every position, what it shows and owes with what the
 * log has said so far. Works on any log, also one from a user's machine.
 */
import { compareStamps, type LoggedEvent, type LoggedEventOf, type Stamp } from '../events/index.ts';
import { generationOf, needsAuthorization, routeDeadline, type AccountContext } from '../machines/index.ts';
import {
  allRoutes,
  evolve,
  findRoute,
  initialState,
  LiveTable,
  nextWake,
  project,
  routeKey,
  ScanDeadlines,
  type PublishedRoute,
  type RouteRecord,
  type State,
  type Turn,
} from '../reconcile/index.ts';
import type { Law, Violation } from './law.ts';
import { Memory, stampText } from './memory.ts';
import { accountStep, routeOwes, routeStep, type Broken } from './transition.ts';

/** What held before an event, as far as the laws ask. */
interface Before {
  /** Of the account that the event names, or else the active one. */
  readonly account: string | undefined;
  readonly context: AccountContext | undefined;
  readonly route: RouteRecord | undefined;
  /** Connectors that the account has a record of. */
  readonly known: ReadonlySet<string>;
  readonly exempt: readonly RouteRecord[];
  readonly exemptShown: readonly PublishedRoute[];
  /** Nothing is about to happen by the passing of time alone. */
  readonly quiet: boolean;
}

/** Events that concern accounts, and so must leave exempt routes alone. */
const ofAccounts = new Set<string>([
  ...['account.activated', 'account.cleared', 'snapshot.received', 'snapshot.failed', 'hint.received'],
  ...['hints.opened', 'hints.lost', 'call.rejected', 'connection.dropping', 'connection.dropped'],
  ...['connection.dropFailed', 'authorization.ended', 'server.reset'],
]);
const NOTHING: ReadonlySet<string> = new Set();

export class Audit {
  readonly state: State = initialState(new ScanDeadlines());
  readonly table = new LiveTable();
  readonly violations: Violation[] = [];
  /** How often each interesting thing was seen: a world that was nowhere has proven nothing. */
  readonly places = new Map<string, number>();
  readonly #memory = new Memory();
  /** Every route as it was before the event. */
  readonly #before = new Map<string, RouteRecord>();
  readonly #shown = new Map<string, Stamp>();
  readonly #meanings = new Map<string, string>();
  readonly #outcomes = new Set<object>();
  #position = 0;

  /** Takes the next event of the log. */
  take(event: LoggedEvent): void {
    this.#position = event.position;
    const before = this.#recall(event);
    const turn = evolve(this.state, event);
    this.#hear(event, before);
    const touched = touchedBy(turn, this.state);
    this.#show(touched);
    this.#checkTable();
    this.#checkEvent(event, before, turn);
    for (const route of touched) this.#checkRoute(event, findRoute(this.state, route.account, route.connector));
  }

  #recall(event: LoggedEvent): Before {
    const { state } = this;
    const named = 'account' in event.data ? event.data.account : null;
    const account = named ?? this.#memory.active?.account;
    const connector = 'connector' in event.data ? event.data.connector : null;
    const routes = account === undefined ? undefined : state.routes.get(account);
    return {
      account,
      context: account === undefined ? undefined : state.accounts.get(account)?.machine.context,
      route: connector === null ? undefined : routes?.get(connector),
      known: routes === undefined || event.type !== 'snapshot.received' ? NOTHING : new Set(routes.keys()),
      exempt: [...(state.routes.get('')?.values() ?? [])],
      exemptShown: [...this.table.entries.values()].filter((route) => route.account === null),
      quiet: (nextWake(state) ?? Infinity) > Math.max(event.at, state.head.now),
    };
  }

  #hear(event: LoggedEvent, { context, account, route, known }: Before): void {
    this.#memory.hear(event);
    if (event.type === 'snapshot.received' && this.#memory.isCurrent(event.data)) {
      const after = account === undefined ? undefined : this.state.accounts.get(account)?.machine.context;
      if (context !== undefined && after !== undefined) this.#memory.hearReply(event, context, after, known);
    }
    const refused =
      event.type === 'call.rejected' || (event.type === 'route.openFailed' && event.data.reason === 'rejected');
    if (refused && this.#memory.hearRejection(event, route)) this.#place('rejected');
  }

  #show(touched: readonly RouteRecord[]): void {
    const before = new Map(this.table.entries);
    this.table.withdraw(this.state, touched);
    for (const key of before.keys()) if (!this.table.entries.has(key)) this.#place('withdrawn');
    this.table.publish(this.state, touched);
    for (const [key, route] of this.table.entries) if (before.get(key) !== route) this.#appear(key, route);
  }

  #appear(key: string, route: PublishedRoute): void {
    this.#place('published');
    const handle = this.#memory.handle(route);
    if (handle?.digest !== route.tools.digest) this.#break('L7', `${key} is shown without a handle of its own`);
    if (this.#memory.wasRejected(route)) this.#break('L5', `${key} is shown by a handle that was refused`);
    this.#checkLifted(key, handle?.position ?? 0);
    const device = findRoute(this.state, route.account, route.connector)?.machine.context.device;
    if (route.stamp === null || device == null || !needsAuthorization(device)) return;
    if (!this.#memory.wasTold(route.connector, route.stamp.revision, route.connectionVersion))
      this.#break('L2', `${key} is shown at ${stampText(route.stamp)}, which no read of this login has said`);
    const shown = this.#shown.get(key);
    if (shown !== undefined && compareStamps(route.stamp, shown) < 0)
      this.#break('L3', `${key} went back from ${stampText(shown)} to ${stampText(route.stamp)}`);
    this.#shown.set(key, route.stamp);
  }

  /** Law L5: shown again only after a later read that said connected, and on the same connection after the hold-off. */
  #checkLifted(key: string, openedAt: number): void {
    const rejection = this.#memory.takeRejection(key);
    if (rejection === undefined) return;
    this.#place('lifted');
    const waited = rejection.confirmed && this.state.head.now >= rejection.untilMs;
    if (openedAt < rejection.position) this.#break('L5', `${key} is shown by a handle opened before it was refused`);
    if (!rejection.changed && !waited) this.#break('L5', `${key} is shown although nothing has lifted its refusal`);
  }

  #checkTable(): void {
    const { active } = this.#memory;
    const line = active === null ? undefined : this.state.accounts.get(active.account)?.machine.context.line;
    for (const [key, { account, epoch, stamp }] of this.table.entries) {
      if (account === null) continue;
      if (stamp !== null && stamp.line !== line) this.#break('L3', `${key} is shown of a line that was left`);
      if (account !== active?.account) this.#break('L1', `${key} is shown, and its account is not active`);
      else if (epoch !== active.epoch) this.#break('L7', `${key} is shown by a handle of login ${String(epoch)}`);
      if (stamp !== null && this.#memory.wasClosed(key, stamp))
        this.#break('L4', `${key} is shown at ${stampText(stamp)}, where a read said closed`);
    }
  }

  #checkEvent(event: LoggedEvent, before: Before, turn: Turn): void {
    if (event.cause !== null) this.#checkOutcome(event);
    if (event.type === 'engine.started') this.#checkStart();
    else if (before.context !== undefined && before.account !== undefined) {
      const after = this.state.accounts.get(before.account)?.machine.context;
      if (after !== undefined)
        this.#judge(before.account, accountStep(event, before.context, after, this.state.head.now));
      if (before.context.wish !== null && after?.wish === null) this.#place('wish ended');
      if (after !== undefined && after.line > before.context.line) this.#place('line adopted');
    }
    if (before.quiet && ofAccounts.has(event.type)) this.#checkExempt(before);
    if (event.type === 'call.rejected') this.#checkRejection(event, before, turn);
  }

  #checkOutcome({ type, data }: LoggedEvent): void {
    if (this.#outcomes.has(data)) this.#break('L14', `one effect ended in two events, the second a ${type}`);
    this.#outcomes.add(data);
  }

  /** Law L12: a start takes handles and logins away, and nothing else. */
  #checkStart(): void {
    for (const after of allRoutes(this.state)) {
      const key = routeKey(after.account, after.connector);
      const before = this.#before.get(key);
      if (before === undefined) continue;
      const timely = (routeDeadline(before.machine.context) ?? Infinity) <= this.state.head.now;
      if ((after.machine !== before.machine && !timely) || after.fence !== before.fence || after.handles.length > 0)
        this.#break('L12', `a start changed what is known of ${key}`);
    }
    if (this.table.entries.size > 0) this.#break('L12', 'something is shown right after a start');
  }

  /** Asked of the state, not of the table: a turn that names no route of this device must not have changed one either. */
  #checkExempt({ exempt, exemptShown }: Before): void {
    for (const route of exempt)
      if (findRoute(this.state, null, route.connector) !== route)
        this.#break('L15', `an event of an account changed ${route.connector} of this device`);
    for (const { connector, generation } of exemptShown) {
      const route = findRoute(this.state, null, connector);
      if (route === undefined || project(this.state, route)?.generation !== generation)
        this.#break('L15', `an event of an account withdrew ${connector} of this device`);
    }
  }

  #checkRejection({ data }: LoggedEventOf<'call.rejected'>, { route, quiet }: Before, turn: Turn): void {
    const key = routeKey(data.account, data.connector);
    const wanted = route !== undefined && generationOf(route.machine.context) === data.generation;
    if (this.#memory.isCurrent(data) && wanted) {
      if (this.table.entries.has(key)) this.#break('L5', `${key} is still shown in the turn that refused it`);
      if (this.state.accounts.get(data.account)?.machine.context.wish === null)
        this.#break('L11', `nobody wants to know why ${key} was refused`);
      return;
    }
    this.#place('rejected late');
    if (quiet && turn.changed) this.#break('L6', 'a refusal of another login or generation changed something');
  }

  /** What one event did to one route, and what is owed for it now. */
  #checkRoute(event: LoggedEvent, route: RouteRecord | undefined): void {
    if (route === undefined) return;
    const key = routeKey(route.account, route.connector);
    const before = this.#before.get(key);
    const shown = this.table.entries.get(key);
    if (shown !== undefined) this.#checkMeaning(key, shown, route);
    if (shown !== undefined && shown.generation !== generationOf(route.machine.context))
      this.#break('L7', `${key} is shown by a handle of another generation`);
    this.#judge(key, routeOwes(this.state, route));
    if (before !== undefined && before !== route)
      this.#judge(key, routeStep(event, before, route, this.#around(event)));
    this.#before.set(key, route);
  }

  #around({ data }: LoggedEvent): { readonly current: boolean; readonly nowMs: number } {
    const current = 'account' in data && 'epoch' in data && this.#memory.isCurrent(data);
    return { current, nowMs: this.state.head.now };
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

  #judge(of: string, broken: Broken): void {
    if (broken !== null) this.#break(broken[0], `${of}: ${broken[1]}`);
  }

  #place(name: string): void {
    this.places.set(name, (this.places.get(name) ?? 0) + 1);
  }

  #break(law: Law, text: string): void {
    this.violations.push({ law, position: this.#position, text });
  }
}

/** The laws that a log breaks, in the order in which it does. */
export function brokenLaws(events: Iterable<LoggedEvent>): readonly Violation[] {
  const audit = new Audit();
  for (const event of events) audit.take(event);
  return audit.violations;
}

/** Routes that a turn may have changed, each once. */
function touchedBy(turn: Turn, state: State): readonly RouteRecord[] {
  if (turn.upheaved.length === 0 && turn.routes.length < 2) return turn.routes;
  const upheaved = turn.upheaved.flatMap((account) => [...(state.routes.get(account)?.values() ?? [])]);
  const all = [...turn.routes, ...upheaved];
  return [...new Map(all.map((route) => [routeKey(route.account, route.connector), route])).values()];
}
