/** The fast way through a recording: the shipped fold, the hash of the state where the recording kept one, and nothing else. */
import { LiveTable, StateHasher, allRoutes, evolve, initialState, type State, type Turn } from '../reconcile/index.ts';
import type { RecordedEvent } from '../events/index.ts';
import { MarkCheck, type Difference, type Recording } from './recording.ts';

export interface Folded {
  readonly state: State;
  /** What may be seen in that state. */
  readonly table: LiveTable;
  readonly events: number;
  readonly stateHash: string;
  readonly marks: MarkCheck;
}

/** What a watcher is told of each event; `difference` as {@link MarkCheck.after} has it. Answering `false` ends the fold. */
export type Watch = (
  event: RecordedEvent,
  turn: Turn,
  difference: Difference | null | undefined,
) => boolean | undefined;

/** Folds `log` up to and including position `until`. *Errors*: those of reading the log. */
export function fold(log: Recording, until = Infinity, watch?: Watch): Folded {
  const state = initialState();
  const hasher = new StateHasher(state);
  const hash = (): string => hasher.hash();
  const marks = new MarkCheck(log.marks());
  let events = 0;
  for (const event of until < 1 ? [] : log.read()) {
    const turn = evolve(state, event);
    hasher.note(turn);
    events++;
    const difference = marks.after(event, hash);
    // Not one further than asked for: the log may not hold there.
    if (watch?.(event, turn, difference) === false || event.position >= until) break;
  }
  return { state, table: tableOf(state), events, stateHash: hash(), marks };
}

/** The table is derived from the state alone, so it is not kept on the way. */
function tableOf(state: State): LiveTable {
  const table = new LiveTable();
  table.publish(state, allRoutes(state));
  return table;
}
