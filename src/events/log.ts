/**
 * The port of the event log. Memory, SQLite and (asynchronously) Postgres stand behind it; one contract suite holds them all.
 *
 * Promises of every log: positions are gap-free from 1; an id that is already recorded is not recorded again; what `append`
 * returned is durable; a batch is whole or absent; `read` yields what was appended, in order.
 */
import type { LoggedEvent, NewEvent, UnknownEvent } from './catalogue.ts';

/** What a log may hold: events of the catalogue, and rows of a newer version that are kept without being understood. */
export type RecordedEvent = LoggedEvent | UnknownEvent;

/** What every log can tell, also one that nobody may append to: a file, or a log that another process owns. */
export interface LogReader {
  /** Position of the newest event; 0 when the log is empty. */
  readonly head: number;
  /**
   * Events from `from` (inclusive) to the head at the first step, oldest first, each only after the chain of its batch, or the hash of
   * a copy that was sealed from it, has been checked. Lazy; a log may be appended to between two steps, not within one. *Errors*:
   * {@link LogUnreadable} at the first batch that does not hold, after all before it. Events may share what they have in common: nobody may
   * write to them.
   */
  read(from?: number): Iterable<RecordedEvent>;
  /** State hashes kept so far, oldest first. */
  marks(): Iterable<{ readonly position: number; readonly stateHash: string }>;
  /** Reads everything and recomputes the chain. */
  verify(): LogReport;
  close(): void;
}

export interface EventLog extends LogReader {
  /**
   * Records the batch in one transaction and returns the events as recorded, in the order given.
   *
   * *Invariant*: an event whose id is known keeps its first position and changes nothing; the others follow `head` without gaps.
   * *Errors*: {@link LogConflict} when `expectedHead` is given and is not `head`; {@link LogUnavailable} when the disk refuses
   * (nothing of the batch is recorded, and the same call may be made again).
   */
  append(events: readonly NewEvent[], expectedHead?: number): readonly LoggedEvent[];
  /** Position under which an id is recorded, or `undefined`. */
  positionOf(id: string): number | undefined;
  /** Keeps the state hash that the fold has after `position`, so that a replay can be held against it. The first one stays. */
  mark(position: number, stateHash: string): void;
  /**
   * Puts by a state that was folded up to `position` (the last of a batch), so that a start need not fold it again. A cache: `key`
   * says which program can read it, those of other keys are dropped, and of this one the two newest stay. A log may keep none.
   * *Errors*: {@link LogUnavailable}.
   */
  saveCheckpoint?(checkpoint: Checkpoint): void;
  /** The newest state of `key` that was folded from this very log and is byte for byte what was saved, or `undefined`. */
  loadCheckpoint?(key: string): Checkpoint | undefined;
}

/** A folded state and its place. */
export interface Checkpoint {
  readonly position: number;
  readonly key: string;
  /** Those of a loaded one are read little by little, as long as the state is in use: nobody may write to them. */
  readonly bytes: Uint8Array;
}

/** What {@link LogReader.verify} found. `broken` names the first batch that does not hold. */
export interface LogReport {
  readonly events: number;
  readonly head: number;
  readonly batches: number;
  readonly link: string;
  readonly broken: { readonly position: number; readonly reason: string } | null;
}

/** Somebody else appended in between, or the log is owned by another process. Exit code 6. */
export class LogConflict extends Error {
  override readonly name = 'LogConflict';
}

/** The disk refused: full, read-only, gone. Nothing was recorded. */
export class LogUnavailable extends Error {
  override readonly name: string = 'LogUnavailable';
}

/** Nothing was ever logged there. */
export class LogAbsent extends LogUnavailable {
  override readonly name = 'LogAbsent';
}

/** The log can't be trusted or understood: a broken chain, a newer format, a foreign file. Never answered by starting anew. */
export class LogUnreadable extends Error {
  override readonly name: string = 'LogUnreadable';
}

/** The log was written by an older version, and only its owner may bring it up to date. */
export class LogOutdated extends LogUnreadable {
  override readonly name = 'LogOutdated';
}
