/**
 * A log that lives as long as the process: for tests, simulation and embedding without a disk. It keeps every promise of the port
 * but durability. The chain is computed when somebody asks for it, as a simulation appends millions of events that nobody verifies.
 */
import { placeEvent } from './batch.ts';
import { RULES, type LoggedEvent, type NewEvent } from './catalogue.ts';
import { GENESIS, hashPayload, headerOf, linkOf, type LogRow, type RowSource } from './chain.ts';
import { LogConflict, type Checkpoint, type EventLog, type LogReport } from './log.ts';

export interface MemoryLogOptions {
  /** Rules version stamped on every event; the catalogue's own when absent. */
  readonly rules?: string;
  /** Salt of the payload hashes. Empty when absent, so that equal logs have equal links; such a log can't be exported redacted. */
  readonly salt?: string;
}

/** An empty log in memory. */
export function memoryLog(options: MemoryLogOptions = {}): EventLog & RowSource {
  return new MemoryLog(options.rules ?? RULES, options.salt ?? '');
}

class MemoryLog implements EventLog, RowSource {
  readonly salt: string;
  readonly #rules: string;
  readonly #events: LoggedEvent[] = [];
  readonly #positions = new Map<string, number>();
  /** Last position of each batch. */
  readonly #ends: number[] = [];
  readonly #marks = new Map<number, string>();
  /** The newest first. */
  #checkpoints: readonly Checkpoint[] = [];

  constructor(rules: string, salt: string) {
    this.#rules = rules;
    this.salt = salt;
  }

  get head(): number {
    return this.#events.length;
  }

  append(events: readonly NewEvent[], expectedHead: number = this.head): readonly LoggedEvent[] {
    if (expectedHead !== this.head) throw headMoved(expectedHead, this.head);
    const before = this.head;
    try {
      for (const event of events) if (!this.#positions.has(event.id)) this.#record(event);
    } catch (error) {
      for (const { id } of this.#events.splice(before)) this.#positions.delete(id);
      throw error;
    }
    if (this.head > before) this.#ends.push(this.head);
    return events.map(({ id }) => this.#events[this.#positions.get(id)! - 1]!);
  }

  #record(event: NewEvent): void {
    const position = this.#events.length + 1;
    this.#events.push(placeEvent(event, position, this.#rules));
    this.#positions.set(event.id, position);
  }

  positionOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  *read(from = 1): Iterable<LoggedEvent> {
    const end = this.head;
    for (let position = Math.max(from, 1); position <= end; position++) yield this.#events[position - 1]!;
  }

  mark(position: number, stateHash: string): void {
    assertMarkable(position, this.head);
    if (!this.#marks.has(position)) this.#marks.set(position, stateHash);
  }

  *marks(): Iterable<{ readonly position: number; readonly stateHash: string }> {
    const positions = [...this.#marks.keys()].sort((a, b) => a - b);
    for (const position of positions) yield { position, stateHash: this.#marks.get(position)! };
  }

  saveCheckpoint(checkpoint: Checkpoint): void {
    assertMarkable(checkpoint.position, this.head);
    const others = this.#checkpoints.filter(
      ({ key, position }) => key === checkpoint.key && position !== checkpoint.position,
    );
    this.#checkpoints = [checkpoint, ...others].sort((a, b) => b.position - a.position).slice(0, 2);
  }

  loadCheckpoint(key: string): Checkpoint | undefined {
    return this.#checkpoints.find((checkpoint) => checkpoint.key === key);
  }

  verify(): LogReport {
    let link = GENESIS;
    for (const row of this.rows()) link = row.link ?? link;
    return { events: this.head, head: this.head, batches: this.#ends.length, link, broken: null };
  }

  endOf(until: number): number {
    return this.#ends.findLast((end) => end <= until) ?? 0;
  }

  *rows(until = Infinity): Iterable<LogRow> {
    let link = GENESIS;
    let first = 1;
    for (const end of this.#ends) {
      if (end > until) return;
      const rows = this.#events.slice(first - 1, end).map((event) => rowOf(event, this.salt));
      const headers = rows.map((row) =>
        headerOf(row.id, row.at, row.cause, row.type, row.schema, row.rules, row.payloadHash),
      );
      link = linkOf(link, first, rows.length, headers.join(''));
      for (const row of rows) yield row.position === end ? { ...row, link } : row;
      first = end + 1;
    }
  }

  close(): void {
    // Nothing is held.
  }
}

function rowOf(event: LoggedEvent, salt: string): LogRow {
  const { position, type, data, id, at, cause, schema, rules } = event;
  const payload = JSON.stringify(data);
  return { position, id, at, cause, type, schema, rules, link: null, payloadHash: hashPayload(salt, payload), payload };
}

/** What an append answers when somebody else was faster. */
export function headMoved(expected: number, head: number): LogConflict {
  return new LogConflict(`the log's head is ${head}, not ${expected}: read on from ${expected + 1} and decide again`);
}

/** A mark says what the fold had after an event; there is none after an event that is not recorded. */
export function assertMarkable(position: number, head: number): void {
  if (!Number.isSafeInteger(position) || position < 1 || position > head)
    throw new RangeError(`no event at position ${position} to mark: the head is ${head}`);
}
