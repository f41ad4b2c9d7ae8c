/**
 * One turn of the fold: every change goes through here, so that it can be named (which routes, which accounts) and taken back.
 * Withdrawing before the disk, keeping a tick that changes nothing out of the log, and exploring all worlds need exactly that.
 */
import {
  newAccount,
  newRoute,
  routeKey,
  type AccountRecord,
  type Anomaly,
  type AnomalyType,
  type Handle,
  type Head,
  type Installed,
  type RouteRecord,
  type State,
} from './state.ts';
import {
  accountDeadline,
  accountTable,
  routeDeadline,
  routeTable,
  type AccountEvidence,
  type RouteEvidence,
} from '../machines/index.ts';
import { raiseFence } from './project.ts';

export class Turn {
  readonly state: State;
  readonly position: number;
  // Lists, not sets: almost every turn touches one or two, and whoever reads them keys them anyway. A name may stand twice.
  /** Routes whose record was replaced, or must be looked at again. */
  readonly routes: RouteRecord[] = [];
  /** Accounts whose record was replaced or whose time has come. */
  readonly accounts: string[] = [];
  /** Accounts of which every route must be looked at again, since the account itself became something else. */
  readonly upheaved: string[] = [];
  /** Whether anything but position and time is different now. */
  changed = false;
  readonly #head: Head;
  /** Map, key, value before, …: three places a change, as a closure for each would cost more than the change. */
  readonly #undo: unknown[] = [];

  constructor(state: State, position: number) {
    this.state = state;
    this.position = position;
    this.#head = state.head;
  }

  /** Place and time of the event, before anything is made of it. */
  moveTo(position: number, nowMs: number): void {
    const { epochs, boot, bootAt, active } = this.state.head;
    this.state.head = { position, now: nowMs, epochs, boot, bootAt, active };
  }

  setHead(change: Partial<Head>): void {
    this.state.head = { ...this.state.head, ...change };
  }

  /** The route's record, made if there is none. */
  route(account: string | null, connector: string): RouteRecord {
    return (
      this.state.routes.get(account ?? '')?.get(connector) ?? this.putRoute(newRoute(account, connector, this.position))
    );
  }

  putRoute(record: RouteRecord): RouteRecord {
    const { account, connector } = record;
    const routes = this.#routesOf(account ?? '');
    return this.#replaceRoute(routes, record, routes.get(connector));
  }

  #replaceRoute(routes: Map<string, RouteRecord>, record: RouteRecord, before: RouteRecord | undefined): RouteRecord {
    const { account, connector } = record;
    this.routes.push(record);
    this.#replace(routes, connector, before, record);
    const atMs = routeDeadline(record.machine.context);
    const noted = before === undefined ? null : routeDeadline(before.machine.context);
    if (atMs !== null && atMs !== noted) this.state.deadlines.note({ atMs, account, connector });
    return record;
  }

  #routesOf(account: string): Map<string, RouteRecord> {
    const found = this.state.routes.get(account);
    if (found !== undefined) return found;
    const made = new Map<string, RouteRecord>();
    this.#put(this.state.routes, account, made);
    return made;
  }

  /** The handles that are open from now on. */
  putHandles(record: RouteRecord, handles: readonly Handle[]): RouteRecord {
    const { account, connector, machine, fence, since } = record;
    return this.putRoute({ account, connector, machine, handles, fence, since, handledAt: this.position });
  }

  /** Hands a route its evidence. The fence rises with whatever the machine believes afterwards. */
  give(record: RouteRecord, evidence: RouteEvidence): RouteRecord {
    const machine = routeTable.step(record.machine, evidence);
    if (machine === record.machine) return record;
    const { account, connector, handles, handledAt } = record;
    const since = machine.value === record.machine.value ? record.since : this.position;
    const fence = raiseFence(record.fence, machine.context);
    const next = { account, connector, machine, handles, fence, since, handledAt };
    return this.#replaceRoute(this.#routesOf(account ?? ''), next, record);
  }

  account(account: string): AccountRecord {
    return (
      this.state.accounts.get(account) ??
      this.#putAccount(newAccount(account, this.state.accounts.size + 1, this.position))
    );
  }

  giveAccount(account: string, evidence: AccountEvidence): AccountRecord {
    const record = this.account(account);
    const machine = accountTable.step(record.machine, evidence);
    if (machine === record.machine) return record;
    if (concernsRoutes(record.machine, machine)) this.upheaved.push(account);
    const since = machine.value === record.machine.value ? record.since : this.position;
    return this.#putAccount({ account, ordinal: record.ordinal, machine, since });
  }

  #putAccount(record: AccountRecord): AccountRecord {
    const before = this.#put(this.state.accounts, record.account, record);
    this.accounts.push(record.account);
    const { now } = this.state.head;
    const atMs = accountDeadline(record.machine.context, now);
    const noted = before === undefined ? null : accountDeadline(before.machine.context, now);
    if (atMs !== null && atMs !== noted) this.state.deadlines.note({ atMs, account: record.account, connector: null });
    return record;
  }

  putConnector(connector: string, installed: Installed | null): void {
    this.#put(this.state.connectors, connector, installed ?? undefined);
  }

  markForeign(connector: string): void {
    this.#put(this.state.foreign, connector, this.position);
  }

  anomaly(type: AnomalyType, account: string | null, connector: string | null): void {
    const key = `${type} ${routeKey(account, connector ?? '')}`;
    const count = (this.state.anomalies.get(key)?.count ?? 0) + 1;
    const anomaly: Anomaly = { type, account, connector, count, lastPosition: this.position };
    this.#put(this.state.anomalies, key, anomaly);
  }

  /** Replaces or (undefined) removes, and remembers and returns what was there. */
  #put<K, V>(map: Map<K, V>, key: K, value: V | undefined): V | undefined {
    const before = map.get(key);
    this.#replace(map, key, before, value);
    return before;
  }

  #replace<K, V>(map: Map<K, V>, key: K, before: V | undefined, value: V | undefined): void {
    this.changed = true;
    this.#undo.push(map, key, before);
    set(map, key, value);
  }

  /** Every change of the turn, oldest first: in which map, under which key, and what was there before. */
  eachBefore(visit: (map: unknown, key: string, before: unknown) => void): void {
    for (let at = 0; at < this.#undo.length; at += 3)
      visit(this.#undo[at], this.#undo[at + 1] as string, this.#undo[at + 2]);
  }

  /** Puts back everything, newest first. The state is then as if the event had never been. */
  takeBack(): void {
    while (this.#undo.length > 0) {
      const before = this.#undo.pop();
      const key = this.#undo.pop();
      set(this.#undo.pop() as Map<unknown, unknown>, key, before);
    }
    this.state.head = this.#head;
  }
}

function set<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** Whether every route must be asked anew. An account that is shut already still ends: not all of its routes need to be read. */
function concernsRoutes(before: AccountRecord['machine'], after: AccountRecord['machine']): boolean {
  return isShut(before.value) !== isShut(after.value) || before.context.epoch !== after.context.epoch;
}

const isShut = (value: AccountRecord['machine']['value']): boolean => value === 'signed-out' || value === 'expired';
