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
  type Head,
  type Installed,
  type RouteKey,
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
  /** Routes whose record was replaced, with the record before. */
  readonly routes = new Map<
    RouteKey,
    { readonly account: string | null; readonly connector: string; readonly before: RouteRecord | undefined }
  >();
  /** Accounts whose record was replaced or whose time has come. */
  readonly accounts = new Set<string>();
  /** Connectors whose device facts were replaced. */
  readonly connectors = new Set<string>();
  /** Accounts of which every route must be looked at again, since the account itself became something else. */
  readonly upheaved = new Set<string>();
  /** Whether anything but position and time is different now. */
  changed = false;
  readonly #head: Head;
  readonly #undo: (() => void)[] = [];

  constructor(state: State, position: number) {
    this.state = state;
    this.position = position;
    this.#head = state.head;
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
    const ofAccount = this.#routesOf(account ?? '');
    const before = ofAccount.get(connector);
    const key = routeKey(account, connector);
    if (!this.routes.has(key)) this.routes.set(key, { account, connector, before });
    this.#put(ofAccount, connector, record, before);
    const atMs = routeDeadline(record.machine.context);
    if (atMs !== null) this.state.deadlines.note({ atMs, account, connector });
    return record;
  }

  #routesOf(account: string): Map<string, RouteRecord> {
    const found = this.state.routes.get(account);
    if (found !== undefined) return found;
    const made = new Map<string, RouteRecord>();
    this.#put(this.state.routes, account, made, undefined);
    return made;
  }

  /** Hands a route its evidence. The fence rises with whatever the machine believes afterwards. */
  give(record: RouteRecord, evidence: RouteEvidence): RouteRecord {
    const machine = routeTable.step(record.machine, evidence);
    if (machine === record.machine) return record;
    const since = machine.value === record.machine.value ? record.since : this.position;
    return this.putRoute({ ...record, machine, since, fence: raiseFence(record.fence, machine.context) });
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
    if (isShut(machine.value) !== isShut(record.machine.value)) this.upheaved.add(account);
    const since = machine.value === record.machine.value ? record.since : this.position;
    return this.#putAccount({ ...record, machine, since });
  }

  #putAccount(record: AccountRecord): AccountRecord {
    this.#put(this.state.accounts, record.account, record, this.state.accounts.get(record.account));
    this.accounts.add(record.account);
    const atMs = accountDeadline(record.machine.context, this.state.head.now);
    if (atMs !== null) this.state.deadlines.note({ atMs, account: record.account, connector: null });
    return record;
  }

  putConnector(connector: string, installed: Installed | null): void {
    const before = this.state.connectors.get(connector);
    this.connectors.add(connector);
    if (installed !== null) return this.#put(this.state.connectors, connector, installed, before);
    if (before === undefined) return;
    this.state.connectors.delete(connector);
    this.#changing(() => this.state.connectors.set(connector, before));
  }

  markForeign(connector: string): void {
    this.#put(this.state.foreign, connector, this.position, this.state.foreign.get(connector));
  }

  anomaly(type: AnomalyType, account: string | null, connector: string | null): void {
    const key = `${type} ${routeKey(account, connector ?? '')}`;
    const before = this.state.anomalies.get(key);
    const next: Anomaly = { type, account, connector, count: (before?.count ?? 0) + 1, lastPosition: this.position };
    this.#put(this.state.anomalies, key, next, before);
  }

  #put<K, V>(map: Map<K, V>, key: K, value: V, before: V | undefined): void {
    map.set(key, value);
    this.#changing(() => (before === undefined ? map.delete(key) : map.set(key, before)));
  }

  #changing(undo: () => void): void {
    this.changed = true;
    this.#undo.push(undo);
  }

  /** Puts back everything, newest first. The state is then as if the event had never been. */
  takeBack(): void {
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) undo();
    this.state.head = this.#head;
  }
}

const isShut = (value: AccountRecord['machine']['value']): boolean => value === 'signed-out' || value === 'expired';
