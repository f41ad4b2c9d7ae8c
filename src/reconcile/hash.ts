/**
 * One hash of the whole state, kept up to date record by record. A hash over everything at every mark would cost a fold of its own
 * with 100,000 routes; a sum of record hashes costs what was touched. Accounts are named by ordinal, so a redacted log has the same
 * hash (DESIGN 5.1). Binds only under the rules that wrote it.
 */
import { hash } from 'node:crypto';
import {
  allRoutes,
  findRoute,
  routeKey,
  type AccountRecord,
  type Installed,
  type RouteRecord,
  type State,
} from './state.ts';
import type { Turn } from './turn.ts';

const LANES = 8;

/** Text of a value with sorted keys: the same content is the same text, whoever built it. */
export function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const record = value as Readonly<Record<string, unknown>>;
  return `{${Object.keys(record)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(record[key])}`)
    .join(',')}}`;
}

/** A record that was replaced since the last hash. */
interface Dirty {
  /** Its text at the last hash; `null`: it was not there. */
  readonly before: () => string | null;
  readonly now: () => string | null;
}

/** Follows a state turn by turn and gives its hash on demand. */
export class StateHasher {
  readonly #state: State;
  readonly #lanes: Uint32Array;
  /** Digests of the records that were hashed here, so that one that changes often is not written out twice each time. */
  readonly #digests = new Map<string, Uint32Array>();
  readonly #dirty = new Map<string, Dirty>();

  /** `lanes` are those of this very state, from a checkpoint; without them the first hash reads all of it. */
  constructor(state: State, lanes?: readonly number[]) {
    this.#state = state;
    this.#lanes = Uint32Array.from({ length: LANES }, (_, lane) => lanes?.[lane] ?? 0);
    if (lanes !== undefined) return;
    for (const account of state.accounts.keys()) this.#markAccount(account, undefined);
    for (const connector of state.connectors.keys()) this.#markConnector(connector, undefined);
    for (const route of allRoutes(state)) this.#markRoute(route, undefined);
  }

  /** Notes what a turn replaced. Every turn that stays must be noted. */
  note(turn: Turn): void {
    const { accounts, connectors, anomalies, foreign, routes } = this.#state;
    turn.eachBefore((map, key, before) => {
      if (map === accounts) this.#markAccount(key, before as AccountRecord | undefined);
      else if (map === connectors) this.#markConnector(key, before as Installed | undefined);
      else if (map !== anomalies && map !== foreign && map !== routes)
        this.#markRoute((map as Map<string, RouteRecord>).get(key), before as RouteRecord | undefined);
    });
  }

  /** 64 hex digits. */
  hash(): string {
    const { position, now, epochs, boot, active } = this.#state.head;
    const who = active === null ? null : [this.#ordinal(active.account), active.epoch, active.at];
    const head = JSON.stringify([position, now, epochs, boot, who, [...this.#state.foreign]]);
    return hash('sha256', `${head} ${this.lanes().join(',')}`, 'hex');
  }

  /** The sums over all records: enough to go on hashing a state that was stored with them. */
  lanes(): number[] {
    for (const [key, dirty] of this.#dirty) this.#replace(key, dirty);
    this.#dirty.clear();
    return [...this.#lanes];
  }

  #markAccount(account: string, before: AccountRecord | undefined): void {
    const text = (record: AccountRecord | undefined): string | null =>
      record === undefined ? null : accountText(record);
    this.#mark(`a ${account}`, () => text(before), () => text(this.#state.accounts.get(account))); // prettier-ignore
  }

  #markConnector(connector: string, before: Installed | undefined): void {
    const text = (installed: Installed | undefined): string | null =>
      installed === undefined ? null : canonical(['connector', connector, installed]);
    this.#mark(`c ${connector}`, () => text(before), () => text(this.#state.connectors.get(connector))); // prettier-ignore
  }

  #markRoute(route: RouteRecord | undefined, before: RouteRecord | undefined): void {
    const named = route ?? before;
    if (named === undefined) return;
    const { account, connector } = named;
    const text = (record: RouteRecord | undefined): string | null =>
      record === undefined ? null : routeText(record, account === null ? 0 : this.#ordinal(account));
    this.#mark(`r ${routeKey(account, connector)}`, () => text(before), () => text(findRoute(this.#state, account, connector))); // prettier-ignore
  }

  /** What was there before its first change is what was hashed. */
  #mark(key: string, before: () => string | null, now: () => string | null): void {
    if (!this.#dirty.has(key)) this.#dirty.set(key, { before, now });
  }

  #ordinal(account: string): number {
    return this.#state.accounts.get(account)?.ordinal ?? 0;
  }

  #replace(key: string, { before, now }: Dirty): void {
    const old = this.#digests.get(key) ?? digestOf(before());
    const fresh = digestOf(now());
    for (let lane = 0; lane < LANES; lane++)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) - (old?.[lane] ?? 0) + (fresh?.[lane] ?? 0);
    if (fresh === null) this.#digests.delete(key);
    else this.#digests.set(key, fresh);
  }
}

function digestOf(text: string | null): Uint32Array | null {
  if (text === null) return null;
  const bytes = hash('sha256', text, 'buffer');
  return Uint32Array.from({ length: LANES }, (_, lane) => bytes.readUInt32LE(lane * 4));
}

/** The hash of a state that nobody followed. */
export const stateHash = (state: State): string => new StateHasher(state).hash();

const accountText = ({ ordinal, machine, since }: AccountRecord): string =>
  canonical(['account', ordinal, machine, since]);

const routeText = ({ connector, machine, handles, fence, since, handledAt }: RouteRecord, ordinal: number): string =>
  canonical(['route', ordinal, connector, machine, handles, fence, since, handledAt]);
