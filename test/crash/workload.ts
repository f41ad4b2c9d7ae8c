/**
 * A small life of a log in which everything happens that writes: it is made (or migrated), appended to, marked, checkpointed, sealed
 * into segments, compacted, redacted, closed and opened again. The event at a position is always the same one, so that whoever looks at a file
 * afterwards knows what belongs where.
 */
import { openSqliteLog, type LogReader, type NewEvent, type SqliteLog } from '../../src/events/index.ts';

export const KEY = 'crash-table';

type Step =
  readonly ['open' | 'mark' | 'checkpoint' | 'rest' | 'compact' | 'close'] | readonly ['append' | 'redact', number];

/** The last two appends before `rest` are long enough together to be sealed, packed, unpacked for the redaction, and packed again. */
const whole: readonly Step[] = [
  ['open'],
  ['append', 1],
  ['append', 3],
  ['mark'],
  ['checkpoint'],
  ['append', 300],
  ['append', 320],
  ['rest'],
  ['compact'],
  ['redact', 3],
  ['append', 1],
  ['checkpoint'],
  ['close'],
  ['open'],
  ['append', 4],
  ['compact'],
  ['mark'],
  ['append', 1],
];
const brief: readonly Step[] = [['open'], ['append', 2], ['mark'], ['append', 1]];
export const lives = { whole, brief };
export type LifeName = keyof typeof lives;

/** What was acknowledged so far. */
export interface Acknowledged {
  readonly head: number;
  readonly marks: readonly number[];
  readonly redacted: readonly number[];
  /** How many events a copy beside the log must hold once it was opened, as the log was migrated then. */
  readonly backup?: number;
}
export const nothing: Acknowledged = { head: 0, marks: [], redacted: [] };

export interface Witness {
  /** After each step that came back. */
  acknowledge(all: Acknowledged): void;
  /** What a step threw. Throws it on, or the step is taken again. */
  refused?(error: unknown): void;
}

/** Lives `life` on the log at `path`, which holds what `before` says. Leaves it open at the end, as a process that is killed does. */
export async function live(path: string, life: LifeName, witness: Witness, before = nothing): Promise<SqliteLog> {
  let log: SqliteLog | undefined;
  let all = before;
  for (const step of lives[life]) {
    if (step[0] === 'open') log = await opened(path, witness);
    else all = again(witness, () => take(log!, step, all));
    witness.acknowledge(all);
  }
  return log!;
}

async function opened(path: string, { refused }: Witness): Promise<SqliteLog> {
  for (;;)
    try {
      return await openSqliteLog(path);
    } catch (error) {
      if (refused === undefined) throw error;
      refused(error);
    }
}

function again<T>({ refused }: Witness, step: () => T): T {
  for (;;)
    try {
      return step();
    } catch (error) {
      if (refused === undefined) throw error;
      refused(error);
    }
}

function take(log: SqliteLog, [name, number = 0]: Step, all: Acknowledged): Acknowledged {
  const { head } = log;
  if (head !== all.head) throw new Error(`the head is ${String(head)}, and ${String(all.head)} was acknowledged`);
  if (name === 'append') return { ...all, head: log.append(eventsAfter(head, number), head).at(-1)!.position };
  if (name === 'mark') log.mark(head, hashAt(head));
  if (name === 'checkpoint') log.saveCheckpoint({ position: head, key: KEY, bytes: bytesAt(head) });
  if (name === 'rest') log.rest();
  if (name === 'compact') log.compact(idsOf);
  if (name === 'redact') log.redact(number);
  if (name === 'close') log.close();
  if (name === 'mark') return { ...all, marks: [...all.marks, head] };
  return name === 'redact' ? { ...all, redacted: [...all.redacted, number] } : all;
}

export function eventsAfter(head: number, count: number): readonly NewEvent[] {
  return Array.from({ length: count }, (_, index) => eventAt(head + 1 + index));
}

export function eventAt(position: number): NewEvent {
  const data = {
    connector: `c${String(position % 7)}`,
    release: null,
    stage: 'unpack',
    reason: 'x'.repeat(position % 40),
  };
  const cause = position % 3 === 0 ? position - 1 : null;
  return { type: 'install.failed', data, id: `c-${String(position)}`, at: 1_700_000_000_000 + position, cause };
}

/** What stands for a fold here: the chain, which binds the payloads, is checked by the log itself. */
const idsOf = (log: LogReader): string => [...log.read()].map(({ id }) => id).join();

export const hashAt = (position: number): string => `state-${String(position)}`.padEnd(64, '-');
export const bytesAt = (position: number): Uint8Array => Buffer.alloc(6_000, String(position));
