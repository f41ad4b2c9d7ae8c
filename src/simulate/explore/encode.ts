/**
 * A state as a row of whole numbers, such that two states with one row have the same future.
 *
 * What is left out, and why nothing is lost by it: the fold compares positions only with the position at which a read began, and of
 * reads only the one of the login that holds can be accepted, so of each position one bit is kept: does it lie after that read began?
 * Epochs and generations are compared for equality alone, so they are named by their first appearance in the row. Times are kept
 * relative to now, and cut off where a rule no longer looks (a minute, ten minutes, an hour). Lines are compared with the line that
 * holds, so an older one is just older. `since`, `handledAt` and anomalies are for people; nothing decides by them.
 */
import { closedness, type Uint64 } from '../../events/index.ts';
import { generationOf, type AccountContext, type RouteContext } from '../../machines/index.ts';
import type { RouteRecord } from '../../reconcile/index.ts';
import { hashRow } from './hashRow.ts';
import { isSameAccount, isSameRoute, nowhere, Parts, settle } from './parts.ts';
import type { Past } from './past.ts';
import type { Stage } from './stage.ts';

const MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
/** After so many failures in a row a wait has its greatest length. */
const MANY = 12;

/**
 * How each member of what is held comes into the row. Total on purpose: a member that the core grows does not compile here until
 * somebody has said whether the future depends on it.
 */
export const accountMembers: Readonly<Record<keyof AccountContext, 'row' | 'equality' | 'relative'>> = {
  epoch: 'equality',
  epochAt: 'relative',
  line: 'relative',
  serverEpoch: 'row',
  floor: 'row',
  torn: 'row',
  whole: 'row',
  resetAt: 'relative',
  wish: 'relative',
  wanted: 'row',
  dissents: 'row',
  failures: 'row',
  paceMs: 'relative',
  notBeforeMs: 'relative',
  acceptedAtMs: 'relative',
  age: 'row',
};
export const routeMembers: Readonly<Record<keyof RouteContext, 'row' | 'equality' | 'relative'>> = {
  device: 'row',
  read: 'row',
  seenIn: 'equality',
  unreadable: 'row',
  highWater: 'row',
  regress: 'row',
  falls: 'equality',
  overlay: 'row',
  strikes: 'row',
  tombstone: 'row',
  count: 'equality',
  attempts: 'row',
  openedAtMs: 'relative',
  fault: 'row',
};
export const recordMembers: Readonly<Record<keyof RouteRecord, 'row' | 'people'>> = {
  account: 'row',
  connector: 'row',
  machine: 'row',
  handles: 'row',
  fence: 'row',
  since: 'people',
  handledAt: 'people',
};

const numbers = new Map<string, number>();
/** A small number for a text: states, reasons and hashes are few. */
function named(text: string): number {
  let number = numbers.get(text);
  if (number === undefined) numbers.set(text, (number = numbers.size + 1));
  return number;
}

export class Encoder {
  /** What has been hashed of the state on the stage, and what of its neighbour. */
  readonly parts: Parts;
  readonly #stage: Stage;
  readonly #row = new Int32Array(1024);
  #length = 0;
  readonly #setting = nowhere();
  /** Generations and epochs of one route, by their first appearance. */
  readonly #generations = new Names<string>();
  readonly #epochs = new Names<number>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.parts = new Parts(stage);
  }

  /** Hash of the state on the stage, of 64 bits in two lanes. */
  hash(into: Uint32Array): void {
    const { names, slots, routes, accounts, around } = this.#stage;
    const { parts } = this;
    settle(this.#setting, this.#stage);
    this.#world();
    const base = parts.baseIn(this.#setting);
    for (let index = 0; index < names.length; index++) {
      const past = around.servers[names[index]!]!;
      if (base !== null && isSameAccount(base, index, accounts[index]!, past)) parts.copy(1 + index);
      else this.#account(index, past);
    }
    for (let slot = 0; slot < slots.length; slot++) {
      const part = 1 + names.length + slot;
      if (base !== null && isSameRoute(base, slot, this.#stage)) parts.copy(part);
      else this.#route(part, slot, routes[slot]!);
    }
    hashRow(parts.lanes, parts.lanes.length, into, 0);
  }

  #finish(part: number): void {
    hashRow(this.#row, this.#length, this.parts.lanes, 2 * part);
    this.#length = 0;
  }

  /** Everything but accounts and routes. */
  #world(): void {
    const { around, names } = this.#stage;
    const { active } = this.#setting;
    this.#put(active === null ? 0 : names.indexOf(active.account) + 1);
    this.#put(around.login === null ? 0 : names.indexOf(around.login) + 1);
    this.#put(around.release);
    this.#put(around.left);
    for (const fetch of around.fetches) {
      const current = fetch.epoch === active?.epoch && fetch.account === active.account;
      // What an ended login was to be told is never looked at.
      this.#put(current ? fetch.since.id : -1 - names.indexOf(fetch.account));
    }
    for (const { slot, epoch } of around.drops) this.#put(slot * 2 + bit(epoch === active?.epoch));
    this.#finish(0);
  }

  #account(index: number, past: Past): void {
    const { value, context } = this.#stage.accounts[index]!.machine;
    this.#put(past.id);
    this.#put(named(value));
    this.#context(context);
    this.#finish(1 + index);
  }

  #put(value: number): void {
    this.#row[this.#length++] = value;
  }

  #context(context: AccountContext): void {
    this.#put(number(context.serverEpoch));
    this.#put(number(context.floor));
    this.#put(bit(context.torn) * 4 + bit(context.whole) * 2 + this.#answers(context.resetAt));
    this.#put(this.#since(context.paceMs, 0));
    this.#wanted(context);
    // A login begins these anew, so while nobody is signed in they say nothing.
    if (context.epoch === null) return;
    this.#put(context.wish === null ? -1 : this.#answers(context.wish));
    this.#put(Math.min(context.failures, MANY));
    this.#put(this.#since(context.notBeforeMs, 0));
    this.#put(named(context.age));
    this.#put(context.acceptedAtMs === null ? 1 : this.#since(context.acceptedAtMs, HOUR_MS));
  }

  #wanted({ wanted, dissents }: AccountContext): void {
    if (wanted === null) this.#put(-1);
    else {
      this.#put(number(wanted.revision) * 2 + this.#answers(wanted.position));
      this.#put(wanted.shorts?.count ?? 0);
      if (wanted.shorts !== null) this.#put(this.#since(wanted.shorts.lastAtMs, MINUTE_MS));
    }
    if (dissents === null) return this.#put(-1);
    this.#put(dissents.count);
    this.#put(this.#since(dissents.lastAtMs, MINUTE_MS));
    this.#put(number(dissents.revision));
    this.#put(named(dissents.content));
  }

  #route(part: number, slot: number, record: RouteRecord): void {
    const { context, value } = record.machine;
    const { active, boot } = this.#setting;
    const mine = active !== null && record.account === active.account;
    this.#generations.begin(generationOf(context));
    this.#epochs.begin(record.account === null ? boot : mine ? active.epoch : 0);
    this.#put(named(value) * 2 + bit(mine && context.seenIn === active.epoch));
    if (record.account !== null) {
      this.#belief(context, slot);
      this.#fence(record, slot);
    }
    this.#pending(context, slot);
    this.#put(record.handles.length);
    for (const { generation, epoch } of record.handles) this.#handle(generation, epoch);
    for (const work of this.#stage.around.works) {
      if (work.slot !== slot) continue;
      this.#put(work.kind === 'openRoute' ? 8 + work.could : 7);
      this.#handle(work.generation, work.epoch);
    }
    this.#finish(part);
  }

  #handle(generation: string, epoch: number): void {
    this.#put(this.#generations.of(generation) * 256 + this.#epochs.of(epoch));
  }

  #belief({ read, highWater, regress, unreadable, device }: RouteContext, slot: number): void {
    this.#put(device === null ? 0 : named(device.release.digest) * 2 + bit(unreadable));
    if (read === null) this.#put(-1);
    else {
      this.#put(number(read.stamp.revision) * 2 + bit(read.stamp.line === this.#lineOf(slot)));
      this.#put(closedness[read.entry.state]);
      this.#connection(read.entry);
    }
    if (highWater === null) this.#put(-1);
    else this.#connection(highWater);
    if (regress === null) return this.#put(-1);
    this.#put(regress.count);
    this.#put(this.#since(regress.lastAtMs, MINUTE_MS));
  }

  #connection(of: { readonly connectionIdHash: string | null; readonly connectionVersion: Uint64 | null }): void {
    this.#put(of.connectionIdHash === null ? 0 : named(of.connectionIdHash));
    this.#put(number(of.connectionVersion));
  }

  #fence({ fence, machine: { context } }: RouteRecord, slot: number): void {
    if (fence === null) return this.#put(-1);
    // A fence of an older line binds nothing.
    this.#put(fence.stamp.line < this.#lineOf(slot) ? -2 : number(fence.stamp.revision));
    this.#put(number(fence.connectionVersion));
    const { connectionIdHash, falls } = fence;
    const same = connectionIdHash === (context.read?.entry.connectionIdHash ?? null) && falls === context.falls;
    this.#put(same ? 0 : named(`${connectionIdHash ?? ''}/${String(falls)}`));
  }

  /** Everything that waits: for a read, for time, or for an answer. */
  #pending({ overlay, strikes, tombstone, fault, attempts, openedAtMs }: RouteContext, slot: number): void {
    if (overlay === null) this.#put(-1);
    else {
      this.#put(this.#answers(overlay.position) * 2 + bit(overlay.confirmed));
      this.#put(this.#since(overlay.holdUntilMs, 0));
      this.#connection(overlay);
    }
    if (strikes === null) this.#put(-1);
    else {
      this.#put(strikes.k);
      this.#connection(strikes);
    }
    if (tombstone === null) this.#put(-1);
    else this.#tombstone(tombstone, slot);
    this.#put(Math.min(attempts, MANY));
    this.#put(fault === null ? -1 : this.#since(fault.retryAtMs, 0) * 2 + bit(fault.contract));
    // How long a handle has lived is asked only to forgive failures.
    if (attempts > 0) this.#put(openedAtMs === null ? 1 : this.#since(openedAtMs, TEN_MINUTES_MS));
  }

  #tombstone(tombstone: NonNullable<RouteContext['tombstone']>, slot: number): void {
    const { active } = this.#setting;
    this.#put(bit(tombstone.epoch === active?.epoch) * 2 + bit(tombstone.line < this.#lineOf(slot)));
    this.#put(number(tombstone.floor));
    this.#put(tombstone.answeredAt === null ? -1 : this.#answers(tombstone.answeredAt));
    this.#put(named(JSON.stringify(tombstone.needs)));
  }

  #lineOf(slot: number): number {
    return this.#stage.accounts[this.#stage.slots[slot]!.owner]?.machine.context.line ?? 0;
  }

  /** Whether the read of this login began at or after a position, so that it may answer what arose there. */
  #answers(position: number): number {
    return bit(this.#setting.startedAt >= position);
  }

  /** An instant relative to now, in ms; what lies back further than `longMs` is all one. */
  #since(atMs: number, longMs: number): number {
    return Math.max(atMs - this.#setting.now, -longMs);
  }
}

/** Small numbers by first appearance. Cleared by counting anew: an array that is cut costs more than all that it holds. */
class Names<T> {
  readonly #names: T[] = [];
  #size = 0;

  begin(first: T): void {
    this.#names[0] = first;
    this.#size = 1;
  }

  of(name: T): number {
    for (let index = 0; index < this.#size; index++) if (this.#names[index] === name) return index;
    this.#names[this.#size] = name;
    return this.#size++;
  }
}

const bit = (value: boolean): number => (value ? 1 : 0);
const number = (value: Uint64 | null): number => (value === null ? -1 : Number(value));
