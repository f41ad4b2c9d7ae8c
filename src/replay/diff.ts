/**
 * Where today's rules decide otherwise than those that wrote a log. Two witnesses: the state hashes that the log kept, every 1,000
 * events, which name a window; and the outcomes of effects, which name the decision. One pass, that ends where it is certain.
 *
 * Out of reach: a decision that led to no effect is known to lie in its window and no closer, as a hash tells that two states differ
 * and not in what. And nothing can be skipped: what today's rules make of position 900,000 is known to who has folded 900,000 events
 * with them. Hashes of the old rules can't stand in for that, and would be no news where they could.
 */
import { isUnknown, RULES, type RecordedEvent } from '../events/index.ts';
import type { State, Turn } from '../reconcile/index.ts';
import { DecisionCheck, type Decision, type Unanswered } from './decisions.ts';
import { fold } from './fold.ts';
import { effectLabel } from './labels.ts';
import type { Difference, Recording } from './recording.ts';

/** What was decided may show long after: so many events behind the first difference are read for an earlier one. */
const LOOK_AHEAD = 1_000;

export interface FirstDifference {
  /** Where the decision was taken, or where a state hash is another one for the first time. */
  readonly position: number;
  /** The last state hash before it that agrees: the decision lies after this position. */
  readonly agreedUpTo: number;
  /** State hash of the log and of today's rules; `null` where an outcome was the witness. */
  readonly recorded: string | null;
  readonly computed: string | null;
  /** Rules that wrote the log there. */
  readonly rules: string;
  /** Whether today's rules wrote it: then the log was changed, or the program does not do what its rules say. */
  readonly binding: boolean;
  /** In words, without a full stop. */
  readonly text: string;
}

export interface Diff {
  /** Events that were read; fewer than the log has where a difference was found. */
  readonly events: number;
  /** State hashes that were compared. */
  readonly marks: number;
  /** Today's. */
  readonly rules: string;
  /** The first row that can't be read: nothing from there on is compared. `null`: all of them can. */
  readonly blindFrom: number | null;
  readonly firstDifference: FirstDifference | null;
}

/** Runs today's rules over `log`. *Errors*: those of reading it. */
export function diff(log: Recording): Diff {
  const comparison = new Comparison();
  const { state, events, marks } = fold(log, Infinity, (event, turn, mark) => comparison.watch(event, turn, mark));
  const { blindFrom } = comparison;
  return { events, marks: marks.checked, rules: RULES, blindFrom, firstDifference: comparison.first(state) };
}

interface Shown {
  readonly decision: Decision;
  readonly event: RecordedEvent;
}

class Comparison {
  blindFrom: number | null = null;
  readonly #decisions = new DecisionCheck();
  readonly #agreed: number[] = [];
  #active: string | undefined;
  #shown: Shown | null = null;
  #mark: Difference | null = null;
  #unanswered: readonly Unanswered[] = [];
  #until = Infinity;

  /** Answers `false` when more events could not tell more. */
  watch(event: RecordedEvent, turn: Turn, mark: Difference | null | undefined): boolean {
    if (isUnknown(event)) {
      this.blindFrom = event.position;
      return false;
    }
    const decision = this.#decisions.after(turn.state, event, turn, this.#active);
    this.#active = turn.state.head.active?.account;
    if (decision !== null && decision.position < (this.#shown?.decision.position ?? Infinity))
      this.#shown = { decision, event };
    if (mark === null) this.#agreed.push(event.position);
    else if (mark !== undefined && this.#mark === null) this.#differ(mark);
    if (this.#until === Infinity && (this.#shown ?? this.#mark) !== null) this.#until = event.position + LOOK_AHEAD;
    return event.position < this.#until;
  }

  #differ(mark: Difference): void {
    this.#mark = mark;
    this.#unanswered = this.#decisions.unansweredSince(mark.agreedUpTo);
  }

  /** A decision that is shown at or before the first hash that differs is the cause of it, or comes before it. */
  first(state: State): FirstDifference | null {
    const [shown, mark] = [this.#shown, this.#mark];
    if (shown !== null && shown.decision.position <= (mark?.position ?? Infinity))
      return this.#ofDecision(state, shown);
    return mark === null ? null : { ...mark, text: markText(state, mark, this.#unanswered) };
  }

  #ofDecision(state: State, { decision, event }: Shown): FirstDifference {
    const agreedUpTo = this.#agreed.findLast((position) => position < decision.position) ?? 0;
    const { rules } = event;
    return {
      position: decision.position,
      agreedUpTo,
      recorded: null,
      computed: null,
      rules,
      binding: rules === RULES,
      text: decisionText(state, decision),
    };
  }
}

function decisionText(state: State, { position, shownAt, effect }: Decision): string {
  if (effect === null)
    return `event ${String(position)} changed something when it was written, and changes nothing now`;
  return `the log shows at ${String(shownAt)} that it was decided here to ${effectLabel(state, effect)}, which is not owed now`;
}

function markText(state: State, { position, agreedUpTo }: Difference, unanswered: readonly Unanswered[]): string {
  const where = `the state is another one at ${String(position)}; the decision lies after ${String(agreedUpTo)}`;
  const owed = unanswered.map(({ effect, since }) => `${effectLabel(state, effect)} (since ${String(since)})`);
  return owed.length === 0 ? where : `${where}; owed now, and not shown by the log: ${owed.slice(0, 4).join(', ')}`;
}
