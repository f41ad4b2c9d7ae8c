/**
 * What a log shows of the decisions that were taken when it was written, held against what the rules owe now. Every effect ends in
 * exactly one event whose cause is the position at which it was begun (law L14), so an outcome is a witness: at its cause, that
 * effect was owed. And an event that nobody writes down unless it changed something is a witness that it did.
 */
import { isUnknown, type RecordedEvent } from '../events/index.ts';
import { effectText, isNoise, type Effect, type State, type Turn } from '../reconcile/index.ts';
import { effectOf } from './outcome.ts';
import { Owed, touchedRoutes, type OwedChange } from './owed.ts';

/** A decision that the log shows and today's rules do not take. */
export interface Decision {
  /** Where it was taken. */
  readonly position: number;
  /** Where the log shows it: the outcome of the effect, or the event itself. */
  readonly shownAt: number;
  /** The effect that was begun and is not owed; `null`: the event changed something, and changes nothing now. */
  readonly effect: Effect | null;
}

/** An effect that is owed now, and of which the log shows no outcome. */
export interface Unanswered {
  readonly since: number;
  readonly effect: Effect;
}

/** From when to when an effect was owed; `to` is the first position at which it was not. */
interface Interval {
  readonly effect: Effect;
  readonly from: number;
  readonly to: number;
}

/** Holds a log against today's rules, event by event. */
export class DecisionCheck {
  readonly #owed = new Owed();
  /** By effect: while an outcome is awaited the effect may cease to be owed and be owed again. */
  readonly #intervals = new Map<string, readonly Interval[]>();
  #startedAt = 0;

  /** To be asked after each event was folded; `activeBefore` is the account that was active before it. */
  after(state: State, event: RecordedEvent, turn: Turn, activeBefore: string | undefined): Decision | null {
    const { position } = event;
    if (event.type === 'engine.started' && !isUnknown(event)) this.#start(position);
    const found = this.#witness(event) ?? unchanged(state, event, turn);
    this.#follow(position, this.#owed.update(state, touchedRoutes(state, turn, activeBefore), turn.accounts));
    return found;
  }

  /** What has been owed since after `position` without an outcome in the log. */
  unansweredSince(position: number): readonly Unanswered[] {
    const open = [...this.#intervals.values()].flatMap((intervals) => intervals.slice(-1));
    return open.filter(({ from }) => from > position).map(({ effect, from }) => ({ since: from, effect }));
  }

  /** Effects end with their process: nothing of the one before is a witness any more. */
  #start(position: number): void {
    this.#startedAt = position;
    this.#intervals.clear();
    for (const effect of this.#owed) this.#begin(effect, position);
  }

  #witness(event: RecordedEvent): Decision | null {
    const effect = effectOf(event);
    const { cause, position } = event;
    if (effect === null || cause === null || cause < this.#startedAt) return null;
    const text = effectText(effect);
    const intervals = this.#intervals.get(text) ?? [];
    // What is owed still is begun anew from here on; what was owed once has had its answer.
    this.#keep(text, intervals.filter(({ to }) => to > position).map((open) => ({ ...open, from: position }))); // prettier-ignore
    const owed = intervals.some(({ from, to }) => from <= cause && cause < to);
    return owed ? null : { position: cause, shownAt: position, effect };
  }

  #follow(position: number, { newlyDue, noLongerDue }: OwedChange): void {
    for (const effect of noLongerDue) {
      const text = effectText(effect);
      const ended = (this.#intervals.get(text) ?? []).map((one) =>
        one.to > position ? { ...one, to: position } : one,
      );
      this.#keep(text, ended.filter(({ from, to }) => from < to)); // prettier-ignore
    }
    for (const effect of newlyDue) this.#begin(effect, position);
  }

  #keep(text: string, intervals: readonly Interval[]): void {
    if (intervals.length > 0) this.#intervals.set(text, intervals);
    else this.#intervals.delete(text);
  }

  #begin(effect: Effect, from: number): void {
    const text = effectText(effect);
    this.#intervals.set(text, [...(this.#intervals.get(text) ?? []), { effect, from, to: Infinity }]);
  }
}

function unchanged(state: State, event: RecordedEvent, turn: Turn): Decision | null {
  const written = !turn.changed && !isUnknown(event) && isNoise(state, event);
  return written ? { position: event.position, shownAt: event.position, effect: null } : null;
}
