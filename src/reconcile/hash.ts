/**
 * One hash of the whole state, kept up to date record by record. A hash over everything at every mark would cost a fold of its own
 * with 100,000 routes; a sum of record hashes costs what was touched. Accounts are named by ordinal, so a redacted log has the same
 * hash (DESIGN 5.1). Binds only under the rules that wrote it.
 */
import { hash } from 'node:crypto';
import type { AccountRecord, Fence, RouteRecord, State } from './state.ts';
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

/** Records by the map that holds them, then by their key: a text made of both would cost as much as the fold. */
class ByPlace<T> {
  readonly #maps = new Map<unknown, Map<string, T>>();

  of(map: unknown): Map<string, T> {
    const found = this.#maps.get(map);
    if (found !== undefined) return found;
    const made = new Map<string, T>();
    this.#maps.set(map, made);
    return made;
  }

  *[Symbol.iterator](): Generator<readonly [map: unknown, records: Map<string, T>], void, void> {
    yield* this.#maps;
  }

  clear(): void {
    this.#maps.clear();
  }
}

/** Follows a state turn by turn and gives its hash on demand. */
export class StateHasher {
  readonly #state: State;
  readonly #lanes: Uint32Array;
  /** Digests of the records that were hashed here, so that one that changes often is not written out twice each time. */
  readonly #digests = new ByPlace<Uint32Array>();
  /** Records replaced since the last hash, as they were then; `undefined`: not there. */
  readonly #before = new ByPlace<unknown>();

  /** `lanes` are those of this very state, from a checkpoint; without them the first hash reads all of it. */
  constructor(state: State, lanes?: readonly number[]) {
    this.#state = state;
    this.#lanes = Uint32Array.from({ length: LANES }, (_, lane) => lanes?.[lane] ?? 0);
    if (lanes !== undefined) return;
    for (const map of [state.accounts, state.connectors, ...state.routes.values()])
      for (const key of map.keys()) this.#before.of(map).set(key, undefined);
  }

  /** Notes what a turn replaced. Every turn that stays must be noted. */
  note(turn: Turn): void {
    const { anomalies, foreign, routes } = this.#state;
    turn.eachBefore((map, key, before) => {
      if (map === anomalies || map === foreign || map === routes) return;
      const records = this.#before.of(map);
      // What was there before its first change is what was hashed.
      if (!records.has(key)) records.set(key, before);
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
    for (const [map, records] of this.#before)
      for (const [key, before] of records) this.#replace(map as ReadonlyMap<string, unknown>, key, before);
    this.#before.clear();
    return [...this.#lanes];
  }

  #replace(map: ReadonlyMap<string, unknown>, key: string, before: unknown): void {
    const digests = this.#digests.of(map);
    const old = digests.get(key) ?? digestOf(this.#text(map, key, before));
    const fresh = digestOf(this.#text(map, key, map.get(key)));
    for (let lane = 0; lane < LANES; lane++)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) - (old?.[lane] ?? 0) + (fresh?.[lane] ?? 0);
    if (fresh === null) digests.delete(key);
    else digests.set(key, fresh);
  }

  #text(map: unknown, key: string, record: unknown): string | null {
    if (record === undefined) return null;
    if (map === this.#state.accounts) return accountText(record as AccountRecord);
    if (map === this.#state.connectors) return canonical(['connector', key, record]);
    const route = record as RouteRecord;
    return routeText(route, route.account === null ? 0 : this.#ordinal(route.account));
  }

  #ordinal(account: string): number {
    return this.#state.accounts.get(account)?.ordinal ?? 0;
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
  canonical(['route', ordinal, connector, machine, handles, fence && fenceText(fence), since, handledAt]);

/** As logs have hashed it from the first version on, whatever it looks like in memory: their marks must go on to hold. */
const fenceText = ({ stamp, connectionVersion, connectionIdHash, falls }: Fence): object => ({
  stamp,
  connectionVersion,
  water: `${connectionIdHash ?? ''}/${String(falls)}`,
});
