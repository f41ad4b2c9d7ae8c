/** What can be played again, and how its own state hashes are read beside it. */
import { isUnknown, RULES, type LogReader, type RecordedEvent } from '../events/index.ts';

/** Any log that can be read: in memory, on disk, or a log file. */
export type Recording = Pick<LogReader, 'read' | 'marks'>;

/** A recording of events at hand; for those who hold no log. */
export function recordingOf(
  events: readonly RecordedEvent[],
  marks: readonly { readonly position: number; readonly stateHash: string }[] = [],
): Recording {
  return { read: (from = 1) => events.filter(({ position }) => position >= from), marks: () => marks };
}

/** A state hash that the log kept and that the fold has now, where they are not the same. */
export interface Difference {
  readonly position: number;
  /** Up to here the hashes agreed; the first decision that differs lies after it. */
  readonly agreedUpTo: number;
  readonly recorded: string;
  readonly computed: string;
  /** Rules under which the log kept its hash. */
  readonly rules: string;
  /**
   * Whether the hashes had to agree: kept under these rules, over events that can all be read. If so, the log was changed or the
   * fold is not what it says it is.
   */
  readonly binding: boolean;
}

/** Holds a fold against the marks of a recording, event by event. */
export class MarkCheck {
  readonly #marks: Iterator<{ readonly position: number; readonly stateHash: string }>;
  #next: { readonly position: number; readonly stateHash: string } | undefined;
  #readable = true;
  #agreedUpTo = 0;
  checked = 0;
  readonly differences: Difference[] = [];

  constructor(marks: Iterable<{ readonly position: number; readonly stateHash: string }>) {
    this.#marks = marks[Symbol.iterator]();
    this.#pull();
  }

  #pull(): void {
    const next = this.#marks.next();
    this.#next = next.done === true ? undefined : next.value;
  }

  /** After an event was folded: the difference, `null` where a mark agrees, `undefined` where there is none. */
  after(event: RecordedEvent, hash: () => string): Difference | null | undefined {
    if (isUnknown(event)) this.#readable = false;
    while (this.#next !== undefined && this.#next.position < event.position) this.#pull();
    if (this.#next?.position !== event.position) return undefined;
    const difference = this.#compare(event, this.#next.stateHash, hash());
    this.#pull();
    return difference;
  }

  #compare({ position, rules }: RecordedEvent, recorded: string, computed: string): Difference | null {
    this.checked++;
    if (recorded === computed) {
      this.#agreedUpTo = position;
      return null;
    }
    const binding = this.#readable && rules === RULES;
    const difference = { position, agreedUpTo: this.#agreedUpTo, recorded, computed, rules, binding };
    this.differences.push(difference);
    return difference;
  }
}
