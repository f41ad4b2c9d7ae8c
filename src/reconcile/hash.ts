/**
 * One hash of the whole state, kept up to date record by record. A hash over everything at every mark would cost a fold of its own
 * with 100,000 routes; a sum of record hashes costs what was touched. Accounts are named by ordinal, so a redacted log has the same
 * hash (DESIGN 5.1). Binds only under the rules that wrote it.
 */
import { hash } from 'node:crypto';
import { allRoutes, routeKey, type AccountRecord, type RouteRecord, type State } from './state.ts';
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

/** Follows a state turn by turn and gives its hash on demand. */
export class StateHasher {
  readonly #state: State;
  readonly #lanes = new Uint32Array(LANES);
  readonly #digests = new Map<string, Uint32Array>();
  readonly #dirty = new Map<string, () => string | null>();

  constructor(state: State) {
    this.#state = state;
    for (const account of state.accounts.keys()) this.#markAccount(account);
    for (const connector of state.connectors.keys()) this.#markConnector(connector);
    for (const route of allRoutes(state)) this.#markRoute(route.account, route.connector);
  }

  /** Notes what a turn replaced. Every turn that stays must be noted. */
  note(turn: Turn): void {
    for (const account of turn.accounts) this.#markAccount(account);
    for (const connector of turn.connectors) this.#markConnector(connector);
    for (const { account, connector } of turn.routes) this.#markRoute(account, connector);
  }

  /** 64 hex digits. */
  hash(): string {
    for (const [key, text] of this.#dirty) this.#replace(key, text());
    this.#dirty.clear();
    const { position, now, epochs, boot, active } = this.#state.head;
    const who = active === null ? null : [this.#ordinal(active.account), active.epoch, active.at];
    return hash(
      'sha256',
      `${JSON.stringify([position, now, epochs, boot, who, [...this.#state.foreign]])} ${this.#lanes.join(',')}`,
      'hex',
    );
  }

  #markAccount(account: string): void {
    this.#dirty.set(`a ${account}`, () => {
      const record = this.#state.accounts.get(account);
      return record === undefined ? null : accountText(record);
    });
  }

  #markConnector(connector: string): void {
    this.#dirty.set(`c ${connector}`, () => {
      const installed = this.#state.connectors.get(connector);
      return installed === undefined ? null : canonical(['connector', connector, installed]);
    });
  }

  #markRoute(account: string | null, connector: string): void {
    this.#dirty.set(`r ${routeKey(account, connector)}`, () => {
      const record = this.#state.routes.get(account ?? '')?.get(connector);
      return record === undefined ? null : routeText(record, account === null ? 0 : this.#ordinal(account));
    });
  }

  #ordinal(account: string): number {
    return this.#state.accounts.get(account)?.ordinal ?? 0;
  }

  #replace(key: string, text: string | null): void {
    const before = this.#digests.get(key);
    if (before !== undefined) for (let i = 0; i < LANES; i++) this.#lanes[i] = (this.#lanes[i] ?? 0) - (before[i] ?? 0);
    if (text === null) return void this.#digests.delete(key);
    const bytes = hash('sha256', text, 'buffer');
    const digest = Uint32Array.from({ length: LANES }, (_, i) => bytes.readUInt32LE(i * 4));
    for (let i = 0; i < LANES; i++) this.#lanes[i] = (this.#lanes[i] ?? 0) + (digest[i] ?? 0);
    this.#digests.set(key, digest);
  }
}

/** The hash of a state that nobody followed. */
export const stateHash = (state: State): string => new StateHasher(state).hash();

const accountText = ({ ordinal, machine, since }: AccountRecord): string =>
  canonical(['account', ordinal, machine, since]);

const routeText = ({ connector, machine, handles, fence, since, handledAt }: RouteRecord, ordinal: number): string =>
  canonical(['route', ordinal, connector, machine, handles, fence, since, handledAt]);
