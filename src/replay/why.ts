/** Why a route stood as it did at a position of a recording: the same answer that the running daemon gives of now. */
import type { RecordedEvent } from '../events/index.ts';
import { explain, type Explanation } from '../reconcile/index.ts';
import { fold } from './fold.ts';
import type { Recording } from './recording.ts';

export interface WhyOptions {
  /** The account as the log names it, or `account 2`, by order of appearance; `null` for a route of the device; absent for the one that a person means. */
  readonly account?: string | null | undefined;
  /** Position after which the question is asked; absent: the end. */
  readonly at?: number | undefined;
}

/** Folds to `at` and explains. *Errors*: those of reading the log; UnknownAccount. */
export function whyFrom(log: Recording, connector: string, { account, at }: WhyOptions = {}): Explanation {
  const causes: (number | null)[] = [];
  const { state, table } = fold(log, at, ({ cause }) => void causes.push(cause));
  const ask = (read: (position: number) => RecordedEvent | undefined): Explanation =>
    explain(state, table.entries, read, connector, account);
  return ask(readerOf(log, citedBy(ask, causes)));
}

/**
 * The positions that an explanation cites. A log file has no index, so they are found out first, along the causes alone, and then
 * fetched in one pass.
 */
function citedBy(
  ask: (read: (position: number) => RecordedEvent | undefined) => Explanation,
  causes: readonly (number | null)[],
): readonly number[] {
  const asked = new Set<number>();
  ask((position) => {
    const cause = causes[position - 1];
    if (cause === undefined) return undefined;
    asked.add(position);
    return { unknown: 'redacted', type: 'cited', data: {}, id: '', at: 0, cause, position, schema: 1, rules: '' };
  });
  return [...asked].sort((a, b) => a - b);
}

function readerOf(log: Recording, positions: readonly number[]): (position: number) => RecordedEvent | undefined {
  const events = new Map<number, RecordedEvent>();
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || last === undefined) return () => undefined;
  const wanted = new Set(positions);
  for (const event of log.read(first)) {
    if (wanted.has(event.position)) events.set(event.position, event);
    if (event.position >= last) break;
  }
  return (position) => events.get(position);
}
