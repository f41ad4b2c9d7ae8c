/** Where two logs part: the first event, or the first state, that is not the same in both. For two files of one incident. */
import type { RecordedEvent } from '../events/index.ts';
import { evolve, initialState, StateHasher } from '../reconcile/index.ts';
import type { Recording } from './recording.ts';

/** A hash costs as much as folding many events, so that states are compared every so often, and closely where they part. */
const EVERY = 250;

export interface LogsDiff {
  /** Events that both have, up to the first difference. */
  readonly events: number;
  readonly firstDifference: {
    readonly position: number;
    /** `event`: another id, type, time or cause; `state`: another content; `end`: one of them ends before. */
    readonly kind: 'event' | 'state' | 'end';
    readonly text: string;
  } | null;
}

/** Walks both together. Names of accounts play no part: a redacted log equals its original. *Errors*: those of reading the logs. */
export function diffLogs(a: Recording, b: Recording): LogsDiff {
  const [coarse, agreed] = walk(a, b, (position) => position % EVERY === 0);
  if (coarse.firstDifference?.kind !== 'state') return coarse;
  // Not the place yet, only the first of the places looked at.
  return walk(a, b, (position) => position > agreed)[0];
}

function walk(a: Recording, b: Recording, isLookedAt: (position: number) => boolean): [LogsDiff, number] {
  const [left, right] = [new Side(a), new Side(b)];
  let agreed = 0;
  for (let position = 1; ; position++) {
    const [one, other] = [left.next(), right.next()];
    // Where a log ends nothing waits to be folded, and the states are those after the event before.
    if (one === undefined || other === undefined)
      return [left.hash() === right.hash() ? ended(position - 1, one, other) : parted(position - 1, 'state', stateText(position - 1)), agreed]; // prettier-ignore
    if (!sameEvent(one, other)) return [parted(position, 'event', eventText(one, other)), agreed];
    left.fold();
    right.fold();
    if (!isLookedAt(position)) continue;
    if (left.hash() !== right.hash()) return [parted(position, 'state', stateText(position)), agreed];
    agreed = position;
  }
}

function ended(events: number, one: RecordedEvent | undefined, other: RecordedEvent | undefined): LogsDiff {
  if (one === other) return { events, firstDifference: null };
  const text = `the ${one === undefined ? 'first' : 'second'} log ends after ${String(events)}, the other goes on`;
  return { events, firstDifference: { position: events + 1, kind: 'end', text } };
}

/** One log, folded as far as it was read. */
class Side {
  readonly #events: Iterator<RecordedEvent>;
  readonly #state = initialState();
  readonly #hasher = new StateHasher(this.#state);
  #waiting: RecordedEvent | undefined;

  constructor(log: Recording) {
    this.#events = log.read()[Symbol.iterator]();
  }

  next(): RecordedEvent | undefined {
    const next = this.#events.next();
    this.#waiting = next.done === true ? undefined : next.value;
    return this.#waiting;
  }

  /** Folds the event that was given last. */
  fold(): void {
    if (this.#waiting !== undefined) this.#hasher.note(evolve(this.#state, this.#waiting));
    this.#waiting = undefined;
  }

  hash(): string {
    return this.#hasher.hash();
  }
}

const sameEvent = (a: RecordedEvent, b: RecordedEvent): boolean =>
  a.id === b.id && a.type === b.type && a.at === b.at && a.cause === b.cause;

const parted = (position: number, kind: 'event' | 'state' | 'end', text: string): LogsDiff => ({
  events: position - 1,
  firstDifference: { position, kind, text },
});

const eventText = (a: RecordedEvent, b: RecordedEvent): string =>
  a.type === b.type ? `two different events of type ${a.type}` : `${a.type} in the first log, ${b.type} in the second`;

const stateText = (position: number): string => `the same events lead to another state at ${String(position)}`;
