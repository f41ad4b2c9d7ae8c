/** A recording played to a position: what was known, seen and owed there, and whether the log's own hashes agree. */
import { RULES } from '../events/index.ts';
import { lastFailureAfter, statusOf, type LastFailure, type Status } from '../reconcile/index.ts';
import { fold } from './fold.ts';
import type { Difference, Recording } from './recording.ts';

export interface Replay extends Status {
  readonly events: number;
  /** Of the last event that was folded. */
  readonly position: number;
  readonly stateHash: string;
  /** The rules that replayed it. */
  readonly rules: string;
  /** State hashes of the log that were compared on the way. */
  readonly marks: number;
  /** The first hash that had to agree and did not: the log was changed, or this program does not fold as the one that wrote it. */
  readonly divergence: Difference | null;
  /** Hashes that other rules wrote, or that stand after a row which can't be read: they differ, and may. */
  readonly differences: readonly Difference[];
}

/** Folds `log` up to `until` (inclusive). Time stands where the last event left it. *Errors*: those of reading the log. */
export function replay(log: Recording, { until }: { readonly until?: number | undefined } = {}): Replay {
  let failure: LastFailure = null;
  const { state, table, events, stateHash, marks } = fold(log, until, (event, turn) => {
    failure = lastFailureAfter(event, failure, turn.state);
    return true;
  });
  const { position, now } = state.head;
  return {
    events,
    position,
    stateHash,
    rules: RULES,
    ...statusOf(state, table.entries, now, failure),
    marks: marks.checked,
    divergence: marks.differences.find(({ binding }) => binding) ?? null,
    differences: marks.differences.filter(({ binding }) => !binding),
  };
}
