/**
 * The loop around the core. One turn, synchronous from end to end: evolve in memory → withdraw what is no longer derivable → append →
 * publish what is new → start what is newly owed, abort what is not. Withdraw never waits for the disk; publishing always does
 * (law L8). No decision is taken here: everything that decides is in the state. DESIGN 5.4.
 */
import { BehaviorSubject, type Observable } from 'rxjs';
import {
  LogUnavailable,
  RULES,
  SCHEMA,
  type Edge,
  type EventLog,
  type Fact,
  type LoggedEvent,
  type NewEvent,
  type RecordedEvent,
} from '../events/index.ts';
import type { Effect } from './due.ts';
import { nextWake } from './due.ts';
import { evolve, isNoise } from './evolve.ts';
import { backwards } from './backwards.ts';
import { explain, type Explanation } from './explain.ts';
import type { StateHasher } from './hash.ts';
import { restore, type Keeper } from './keeping.ts';
import { LiveTable, type RouteName } from './liveTable.ts';
import { Performing, type Perform } from './performing.ts';
import type { RouteTable } from './project.ts';
import type { State } from './state.ts';
import { lastFailureAfter, statusOf, type LastFailure, type Status } from './status.ts';
import { Touched } from './touched.ts';

/** Every so many events the log keeps a hash of the state, so that a replay can be held against it. */
const MARK_EVERY = 1_000;
/** While the log refuses, it is asked again this often. */
const RETRY_LOG_MS = 1_000;

export interface ReconcilerOptions {
  readonly log: EventLog;
  readonly perform: Perform;
  readonly edge: Edge;
  /** Version of the program, for `engine.started`. */
  readonly package: string;
  /** An id of this process's life, for `engine.started`. */
  readonly boot: string;
  /** Called once when the engine can't go on (a foreign writer, a broken promise). The table is empty by then. */
  readonly onFailure?: (error: unknown) => void;
}

/** What a daemon embeds. All methods are synchronous turns; what they cause comes home as events. */
export interface Reconciler {
  /** Takes in what was learned. Several facts are one turn and one write. */
  accept(facts: Fact | readonly Fact[], cause?: number | null): void;
  /** As `accept`, for a caller that keeps ids itself: an id that is in the log already changes nothing. */
  acceptEvents(events: readonly NewEvent[]): void;
  /** What agents may see now. A live view. */
  readonly table: RouteTable;
  /** The table at once and after every change of it. */
  readonly tables: Observable<RouteTable>;
  readonly active: { readonly account: string; readonly epoch: number } | null;
  /** The number that the next login must carry. */
  nextEpoch(): number;
  readonly position: number;
  /** Whether the log takes no writes just now: the table can only shrink until it does. */
  readonly readOnly: boolean;
  status(): Status;
  /** Why a route is, or is not, published; in sentences, with the events that made it so. *Errors*: UnknownAccount. */
  explain(connector: string, account?: string | null): Explanation;
  stateHash(): string;
  /** Stops effects and timers and ends `tables`. The log stays open: it is the caller's. */
  close(): Promise<void>;
}

/** Folds the log, records the start, and is ready. *Errors*: what reading the log throws. */
export function openReconciler(options: ReconcilerOptions): Reconciler {
  const engine = new Engine(options);
  engine.accept({ type: 'engine.started', data: { boot: options.boot, package: options.package, rules: RULES } });
  return engine;
}

class Engine implements Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #state: State;
  readonly #hasher: StateHasher;
  readonly #keeper: Keeper;
  readonly #table = new LiveTable();
  readonly #subject: BehaviorSubject<RouteTable>;
  readonly #performing: Performing;
  #queue: (() => readonly NewEvent[])[] = [];
  #busy = false;
  #unwritten: readonly NewEvent[] = [];
  /** Until then a log that has refused is left alone. */
  #askLogAtMs = 0;
  #unlogged = 0;
  /** Of this life alone: after a start the program asks anew. */
  #lastFailure: LastFailure = null;
  #cancelWake: () => void = () => undefined;
  #ended = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    ({ state: this.#state, hasher: this.#hasher, keeper: this.#keeper } = restore(options.log));
    this.#subject = new BehaviorSubject<RouteTable>(this.#table.entries);
    this.#performing = new Performing(options.perform, (effect, fact, cause) => this.#finish(effect, fact, cause));
  }

  get table(): RouteTable {
    return this.#table.entries;
  }
  get tables(): Observable<RouteTable> {
    return this.#subject.asObservable();
  }
  get active(): Reconciler['active'] {
    return this.#state.head.active;
  }
  get position(): number {
    return this.#state.head.position;
  }
  get readOnly(): boolean {
    return this.#unwritten.length > 0;
  }
  nextEpoch(): number {
    return this.#state.head.epochs + 1;
  }
  status(): Status {
    return statusOf(this.#state, this.table, this.#options.edge.now(), this.#lastFailure);
  }
  explain(connector: string, account?: string | null): Explanation {
    const logged = backwards((from) => this.#options.log.read(from));
    const read = (position: number): RecordedEvent | undefined => this.#unwrittenAt(position) ?? logged(position);
    return explain(this.#state, this.table, read, connector, account);
  }
  stateHash(): string {
    return this.#hasher.hash();
  }

  accept(facts: Fact | readonly Fact[], cause: number | null = null): void {
    const { edge } = this.#options;
    const list: readonly Fact[] = Array.isArray(facts) ? (facts as readonly Fact[]) : [facts as Fact];
    // Named one by one: a spread of facts of many shapes costs more than their turn.
    const events = list.map(({ type, data }) => ({ type, data, id: edge.newId(), at: edge.now(), cause }) as NewEvent);
    this.#enqueue(() => events);
  }

  acceptEvents(events: readonly NewEvent[]): void {
    this.#enqueue(() => this.#unheard(events));
  }

  /** Asked when their turn has come, as an id may stand twice in a batch, or in two that wait. */
  #unheard(events: readonly NewEvent[]): readonly NewEvent[] {
    const { log } = this.#options;
    const heard = new Set(this.#unwritten.map(({ id }) => id));
    const unheard: NewEvent[] = [];
    for (const event of events) {
      if (heard.has(event.id) || log.positionOf(event.id) !== undefined) continue;
      heard.add(event.id);
      unheard.push(event);
    }
    return unheard;
  }

  /** A listener of the table may hand in facts of its own: they are the next turn, never a turn within a turn. */
  #enqueue(events: () => readonly NewEvent[]): void {
    if (this.#ended) return;
    this.#queue.push(events);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#turn(next());
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#busy = false;
    }
  }

  #finish(effect: Effect, fact: Fact, cause: number): void {
    this.accept(fact, cause);
    // The outcome may have changed nothing, and the work may be owed again all the same.
    if (!this.#ended)
      this.#perform(
        effect.kind === 'fetchSnapshot' ? [] : [effect],
        effect.kind === 'fetchSnapshot' ? [effect.account] : [],
      );
  }

  #turn(events: readonly NewEvent[]): void {
    const touched = new Touched();
    const kept = this.#evolve(events, touched);
    const routes = touched.names(this.#state);
    if (this.#table.withdraw(this.#state, routes)) this.#emit();
    if (kept.length > 0 || this.readOnly) this.#write(kept);
    if (!this.readOnly && this.#table.publish(this.#state, routes)) this.#emit();
    this.#perform(routes, touched.accounts);
    this.#schedule();
    if (!this.readOnly) this.#keeper.afterTurn(this.#state, this.#hasher);
  }

  /** Evolves in memory and returns what belongs into the log. */
  #evolve(events: readonly NewEvent[], touched: Touched): NewEvent[] {
    const kept: NewEvent[] = [];
    for (const raw of events) {
      const event = this.#counted(raw);
      const logged = this.#placed(event);
      const turn = evolve(this.#state, logged);
      if (!turn.changed && isNoise(this.#state, logged)) {
        turn.takeBack();
        if (event.type === 'hint.received') this.#unlogged = event.data.count;
        continue;
      }
      if (event.type === 'hint.received') this.#unlogged = 0;
      this.#lastFailure = lastFailureAfter(logged, this.#lastFailure, this.#state);
      this.#hasher.note(turn);
      touched.add(turn);
      kept.push(event);
    }
    return kept;
  }

  /** The event as the log will record it. */
  #placed({ type, data, id, at, cause }: NewEvent): LoggedEvent {
    const position = this.#state.head.position + 1;
    return { position, type, data, id, at, cause, schema: SCHEMA, rules: RULES } as LoggedEvent;
  }

  /** Hints that said nothing new are no rows; the next one that does carries their number. */
  #counted(event: NewEvent): NewEvent {
    if (event.type !== 'hint.received' || this.#unlogged === 0) return event;
    return { ...event, data: { ...event.data, count: event.data.count + this.#unlogged } };
  }

  /** What can't be written is kept and written first when the log is back. */
  #write(events: readonly NewEvent[]): void {
    const wasReadOnly = this.readOnly;
    this.#unwritten = this.#unwritten.concat(events);
    // A log on disk is opened anew and checked each time it is asked: not once an event.
    if (wasReadOnly && this.#options.edge.now() < this.#askLogAtMs) return;
    this.#append(this.#unwritten);
    if (wasReadOnly && !this.readOnly) this.#recover();
  }

  #append(batch: readonly NewEvent[]): void {
    const { log, edge } = this.#options;
    try {
      // Where this state says that the log ends, not where the log does: another writer's rows would shift every position after them.
      const before = this.#state.head.position - batch.length;
      log.append(batch, before);
      this.#unwritten = [];
      this.#mark(before);
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      this.#askLogAtMs = edge.now() + RETRY_LOG_MS;
    }
  }

  /** A mark that can't be written is left out: the events are recorded, and must not be taken for unwritten. */
  #mark(before: number): void {
    const { log } = this.#options;
    if (Math.floor(before / MARK_EVERY) === Math.floor(log.head / MARK_EVERY)) return;
    try {
      log.mark(log.head, this.#hasher.hash());
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
    }
  }

  /** The log is back: everything that was held back is looked at again. */
  #recover(): void {
    const routes = [...this.#state.routes.values()].flatMap((ofAccount) => [...ofAccount.values()]);
    if (this.#table.publish(this.#state, routes)) this.#emit();
    this.#perform(routes, this.#state.accounts.keys());
  }

  #perform(routes: Iterable<RouteName>, accounts: Iterable<string>): void {
    this.#performing.refresh(this.#state, routes, accounts, this.readOnly);
  }

  #emit(): void {
    this.#subject.next(this.#table.entries);
  }

  #schedule(): void {
    this.#cancelWake();
    const { edge } = this.#options;
    const next = nextWake(this.#state);
    const waitMs = next === null ? Infinity : Math.max(0, next - edge.now());
    const askMs = this.readOnly ? Math.max(0, this.#askLogAtMs - edge.now()) : Infinity;
    const soonMs = Math.min(waitMs, askMs);
    this.#cancelWake = soonMs === Infinity ? () => undefined : edge.wake(soonMs, () => this.#wake());
  }

  #wake(): void {
    if (this.#ended) return;
    this.accept({ type: 'clock.ticked', data: { reason: 'wake' } });
  }

  /** Closed and loud: nothing is vouched for any more. */
  #fail(error: unknown): void {
    this.#end();
    if (this.#table.clear()) this.#emit();
    if (this.#options.onFailure === undefined) throw error;
    this.#options.onFailure(error);
  }

  #end(): void {
    this.#ended = true;
    this.#queue = [];
    this.#cancelWake();
    this.#performing.stop();
  }

  close(): Promise<void> {
    if (!this.#ended && !this.readOnly) this.#keeper.atEnd(this.#state, this.#hasher);
    this.#end();
    this.#subject.complete();
    return Promise.resolve();
  }

  #unwrittenAt(position: number): RecordedEvent | undefined {
    const unwritten = this.#unwritten[position - this.#state.head.position + this.#unwritten.length - 1];
    return unwritten && { ...unwritten, position, schema: SCHEMA, rules: RULES };
  }
}
