/**
 * A state is hashed by parts: the world, each account, each route. A move leaves most of them alone, and what it leaves alone is not
 * written out again but taken over from the state that the move was made from.
 */
import type { AccountRecord, Head } from '../../reconcile/index.ts';
import type { Past } from './past.ts';
import type { Numbers } from './seen.ts';
import type { Work } from './small.ts';
import type { Saved, Stage } from './stage.ts';

/** What the part of a route depends on besides its record, the work on it and the line of its account. */
export interface Setting {
  active: Head['active'];
  boot: number;
  now: number;
  /** Where the read of the login that holds began; without one, every read begins later than everything. */
  startedAt: number;
}

export const nowhere = (): Setting => ({ active: null, boot: 0, now: 0, startedAt: Infinity });

/** The setting of the state on the stage, put into one that is there: none is made for a state. */
export function settle(setting: Setting, { state, around }: Stage): void {
  const { active, now, boot } = state.head;
  setting.active = active;
  setting.boot = boot;
  setting.now = now;
  setting.startedAt = Infinity;
  for (const { epoch, account, startedAt } of around.fetches)
    if (epoch === active?.epoch && account === active.account) setting.startedAt = startedAt;
}

const isSame = (a: Setting, b: Setting): boolean =>
  a.active === b.active && a.boot === b.boot && a.now === b.now && a.startedAt === b.startedAt;

export class Parts {
  readonly #stage: Stage;
  /** Two lanes a part: of the world first, then of each account, then of each route. */
  readonly lanes: Uint32Array;
  /** The state that the next ones are made from by one move each: what a move leaves alone is not written out again. */
  #base: Saved | null = null;
  readonly #baseSetting = nowhere();
  readonly #baseLanes: Uint32Array;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.lanes = new Uint32Array(2 * (1 + stage.names.length + stage.slots.length));
    this.#baseLanes = this.lanes.slice();
  }

  /** Keeps the parts of the state that was hashed last, for the day on which its neighbours are hashed. */
  keep(kept: Numbers): void {
    for (let at = 0; at < this.lanes.length; at++) kept.push(this.lanes[at]!);
  }

  /** The states hashed from now on are neighbours of this one, which stands on the stage and was kept as the `index`th. */
  from(saved: Saved, kept: Numbers, index: number): void {
    const { length } = this.lanes;
    for (let at = 0; at < length; at++) this.#baseLanes[at] = kept.at(index * length + at);
    this.#base = saved;
    settle(this.#baseSetting, this.#stage);
  }

  /** The state whose parts may be taken over in a setting, if any may. */
  baseIn(setting: Setting): Saved | null {
    return this.#base !== null && isSame(this.#baseSetting, setting) ? this.#base : null;
  }

  copy(part: number): void {
    this.lanes[2 * part] = this.#baseLanes[2 * part]!;
    this.lanes[2 * part + 1] = this.#baseLanes[2 * part + 1]!;
  }
}

export const isSameAccount = ({ accounts, around }: Saved, index: number, record: AccountRecord, past: Past): boolean =>
  accounts[index] === record && around.servers[record.account] === past;

export function isSameRoute({ routes, accounts, around }: Saved, slot: number, stage: Stage): boolean {
  const { routes: now, accounts: owners, slots, around: world } = stage;
  if (routes[slot] !== now[slot] || !sameWork(around.works, world.works, slot)) return false;
  const { owner } = slots[slot]!;
  return owner < 0 || accounts[owner]!.machine.context.line === owners[owner]!.machine.context.line;
}

/** Whether the same is under way for a route. */
function sameWork(before: readonly Work[], after: readonly Work[], slot: number): boolean {
  if (before === after) return true;
  let at = 0;
  for (const work of after) {
    if (work.slot !== slot) continue;
    while (at < before.length && before[at]!.slot !== slot) at++;
    if (before[at++] !== work) return false;
  }
  while (at < before.length && before[at]!.slot !== slot) at++;
  return at >= before.length;
}
