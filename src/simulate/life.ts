/**
 * One process from start to kill: the shipped engine over the durable log, with a host in front of the outside. Watches from without
 * what the engine shows and does at every instant: what was written when, and who was at work (laws L1, L5, L8, L14).
 */
import { forwardClock, type Edge, type Fact, type NewEvent } from '../events/index.ts';
import {
  effectText,
  openReconciler,
  type Effect,
  type Perform,
  type PublishedRoute,
  type Reconciler,
  type RouteTable,
} from '../reconcile/index.ts';
import type { Clock } from './clock.ts';
import { Killed, type Disk, type Mortal } from './disk.ts';
import type { Weather } from './faults.ts';
import type { Law, Violation } from './law.ts';
import type { Random } from './random.ts';

/** What was seen at one instant, to be held against a fold of the log. */
export interface Moment {
  /** Head of the durable log then. */
  readonly durable: number;
  /** Nothing was unwritten: the table must be exactly what the durable log says, else no more than that. */
  readonly exact: boolean;
  readonly rows: readonly PublishedRoute[];
}

export interface Surroundings {
  readonly random: Random;
  readonly weather: Weather;
  readonly clock: Clock;
  readonly disk: Disk;
  readonly moments: Moment[];
  readonly violations: Violation[];
  /** Names events; the same in every run of a seed. */
  newId(): string;
  /** Whom the world has made the active account. */
  readonly expected: string | null;
}

const HOUR_MS = 3_600_000;

export class Life implements Mortal {
  readonly #around: Surroundings;
  readonly #host: Perform;
  readonly #edge: Edge;
  readonly #running = new Map<string, Effect>();
  #engine: Reconciler | null = null;
  #shown = new Map<string, PublishedRoute>();
  #buried = false;
  /** Effects whose performer is done, and whose event is not written yet. */
  readonly #ended = new Set<string>();
  #alive = true;
  #momentAt = -1;

  constructor(around: Surroundings, host: Perform, boot: string) {
    this.#around = around;
    this.#host = host;
    this.#edge = this.#makeEdge();
    try {
      this.#open(boot);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    this.#engine?.tables.subscribe((table) => {
      this.#see(table);
    });
  }

  get alive(): boolean {
    return this.#alive;
  }
  get engine(): Reconciler | null {
    return this.#alive ? this.#engine : null;
  }
  /** Effects under way, as the host sees them. */
  get running(): readonly Effect[] {
    return [...this.#running.values()];
  }

  kill(): void {
    this.#alive = false;
  }
  /** After a kill: what the dead process had asked of timers and network is let go. */
  bury(): void {
    if (!this.#buried) void this.#engine?.close();
    this.#buried = true;
  }

  /** Hands in what was learned. */
  accept(facts: Fact | readonly Fact[]): void {
    const { engine } = this;
    if (engine === null) return;
    const rejected = [facts].flat().filter((fact) => fact.type === 'call.rejected' && this.#isShown(fact));
    engine.accept(facts);
    if (!this.#alive) return;
    for (const fact of rejected) if (this.#isShown(fact)) this.#break('L5', 'a rejected route was still shown');
    this.#checkOwner(engine.table);
  }

  /** The disk tells what was written: an effect that has ended is in it. */
  recorded(events: readonly NewEvent[]): void {
    if (this.#ended.size === 0) return;
    for (const event of events) this.#ended.delete(outcomeText(event));
  }

  /** Once a step: what is shown now is kept for the audit, if anything may have changed. */
  look(): void {
    const { engine } = this;
    if (engine !== null && !engine.readOnly && this.#ended.size > 0)
      this.#break('L14', `${[...this.#ended].join(', ')} ended without an event`);
    this.#ended.clear();
    if (engine === null || engine.position === this.#momentAt || this.#around.disk.intruded) return;
    this.#momentAt = engine.position;
    this.#keep(engine);
  }

  #open(boot: string): void {
    const { disk } = this.#around;
    this.#engine = openReconciler({
      log: disk.for(this),
      perform: (effect, context) => this.#perform(effect, context),
      edge: this.#edge,
      package: 'simulated',
      boot,
      onFailure: (error) => {
        this.#fail(error);
      },
    });
  }

  #makeEdge(): Edge {
    const { clock, weather, random, disk } = this.#around;
    const newest = disk.newestAt;
    const now = forwardClock(
      () => clock.wallMs,
      () => clock.steadyMs,
      newest,
    );
    const wake = (ms: number, fire: () => void): (() => void) => {
      const late = weather.strikes('timer-late') ? random.between(60_000, 900_000) : 0;
      const early = weather.strikes('timer-early') ? Math.floor(ms / 2) : 0;
      return clock.in(Math.min(ms, HOUR_MS) + late - early, () => {
        if (this.#alive) fire();
      });
    };
    return { now, newId: () => this.#around.newId(), wake };
  }

  #perform(...[effect, context]: Parameters<Perform>): ReturnType<Perform> {
    if (!this.#alive) return new Promise(() => undefined);
    const text = effectText(effect);
    if (this.#running.has(text)) this.#break('L14', `${text} runs twice at once`);
    this.#running.set(text, effect);
    if (this.#around.weather.strikes('performer-throws')) {
      this.#finish(text);
      return Promise.reject(new Error('a broken performer'));
    }
    return this.#host(effect, context).finally(() => {
      this.#finish(text);
    });
  }

  #finish(text: string): void {
    this.#running.delete(text);
    if (this.engine?.readOnly === false) this.#ended.add(text);
  }

  /** Law L8: what appears must be written, and what disappears must not yet be. */
  #see(table: RouteTable): void {
    const { engine } = this;
    const { disk, weather } = this.#around;
    if (engine === null || disk.intruded) return;
    const durable = disk.log.head === engine.position;
    if (appears(table, this.#shown) && !durable) this.#break('L8', 'something was shown that is not written');
    if (appears(this.#shown, table) && durable) this.#break('L8', 'something was withdrawn only after the write');
    this.#shown = new Map(table);
    this.#checkOwner(table);
    this.#keep(engine);
    if (weather.strikes(durable ? 'crash-after-publish' : 'crash-after-withdraw')) this.kill();
    else if (weather.strikes('listener-reenters')) engine.accept({ type: 'clock.ticked', data: { reason: 'poll' } });
  }

  #keep(engine: Reconciler): void {
    const durable = this.#around.disk.log.head;
    const exact = durable === engine.position;
    this.#around.moments.push({ durable, exact, rows: [...engine.table.values()] });
  }

  #checkOwner(table: RouteTable): void {
    for (const { account } of table.values())
      if (account !== null && account !== this.#around.expected)
        this.#break('L1', `a route of ${account} is shown while ${String(this.#around.expected)} is active`);
  }

  #isShown(fact: Fact): boolean {
    if (fact.type !== 'call.rejected') return false;
    const { account, connector, generation, epoch } = fact.data;
    const shown = this.#engine?.table.get(`${account}/${connector}`);
    return shown?.generation === generation && shown.epoch === epoch;
  }

  #fail(error: unknown): void {
    const name = error instanceof Error ? error.name : '';
    const expected = name === 'LogConflict' && this.#around.disk.intruded;
    if (this.#alive && !expected)
      this.#break(name === 'LogConflict' ? 'L13' : 'core', error instanceof Error ? error.message : String(error));
    this.#alive = false;
  }

  #break(law: Law | 'core', text: string): void {
    this.#around.violations.push({ law, position: this.#engine?.position ?? 0, text });
  }
}

/** Whether `next` has something that `before` has not, or has in another way. */
function appears(next: RouteTable, before: RouteTable): boolean {
  for (const [key, route] of next) {
    const held = before.get(key);
    if (held?.generation !== route.generation || held.epoch !== route.epoch) return true;
  }
  return false;
}

/** The effect whose outcome an event is; nobody's where it is none. */
function outcomeText({ type, data }: NewEvent): string {
  if (type === 'snapshot.received' || type === 'snapshot.failed')
    return effectText({ kind: 'fetchSnapshot', account: data.account, epoch: data.epoch });
  if (type === 'route.opened' || type === 'route.openFailed' || type === 'route.closed')
    return effectText({ ...data, kind: type === 'route.closed' ? 'closeRoute' : 'openRoute' });
  return '';
}
