/** Reading a log file: for its owner, and beside the owner on a handle that cannot write. */
import { BrokenChain, GENESIS, hashPayload, type ChainPoint, type LogRow, type RowSource } from './chain.ts';
import { LogUnavailable, LogUnreadable, type LogReader, type LogReport, type RecordedEvent } from './log.ts';
import { recordedEvent, type RawEvent } from './parse.ts';
import { settingsOf, type Connection, type LogSettings } from './sqliteConnection.ts';
import { logError } from './logError.ts';
import type { StoredRow } from './sqliteSchema.ts';
import { isPacked, payloadsOf } from './sqlitePacks.ts';
import { holds, openPart, partFrom, segmentsOf, type SealedSegment } from './sqliteSegments.ts';
import { verifiedRows } from './verifiedRows.ts';

const START: ChainPoint = { position: 0, link: GENESIS };

/** Reads through whatever connection it is handed; the owner's may be another one after a disk error. */
export class SqliteReader implements LogReader, RowSource {
  readonly path: string;
  readonly #source: () => Connection;
  /** Text of each word by its number. Words are only ever added. */
  #words: readonly string[] = [];
  #salt: string | undefined;
  /** Payloads of the pack that was opened last: rows are read in order, and a few hundred lie in one. */
  #pack: { readonly first: number; readonly payloads: readonly (string | null)[] } = { first: 0, payloads: [] };

  constructor(path: string, source: () => Connection) {
    this.path = path;
    this.#source = source;
  }

  get salt(): string {
    this.#salt ??= this.#ask(({ salt }) => salt.get(1));
    if (this.#salt === undefined) throw new LogUnreadable(`${this.path} has lost its salt: restore a backup`);
    return this.#salt;
  }

  get head(): number {
    return this.last.position;
  }

  /** The newest event's position and the link on it. */
  get last(): ChainPoint {
    const last = this.#ask(({ head }) => head.get(1));
    if (last === undefined) return START;
    if (last.link === null) throw new BrokenChain(last.position, 'the last batch has no link');
    return { position: last.position, link: last.link };
  }

  positionOf(id: string): number | undefined {
    return this.#ask(({ positionOf }) => positionOf.get(id));
  }

  *read(from = 1): Generator<RecordedEvent, void, void> {
    for (const raw of this.#raws(this.#pointBefore(from))) if (raw.position >= from) yield recordedEvent(raw);
  }

  /** From segments where they are and hold, else from rows; each links to the one before. */
  *#raws(start: ChainPoint): Generator<RawEvent, void, void> {
    const end = this.head;
    let point = start;
    while (point.position < end) {
      const segment = this.#segmentAfter(point.position, end);
      if (segment?.before === point.link && segment.first === point.position + 1) {
        for (const part of segment.parts) yield* openPart(part);
        point = { position: segment.last, link: segment.link };
        continue;
      }
      const gap = segment === undefined || segment.first === point.position + 1 ? end : segment.first - 1;
      for (const run of this.runs(point, gap)) {
        for (const row of run) yield this.#raw(row);
        point = { position: run.at(-1)![0], link: run.at(-1)![7]! };
      }
    }
  }

  /** A segment is believed when it is whole, and hangs where the rows do: the run of another log is whole, too. */
  #segmentAfter(position: number, end: number): SealedSegment | undefined {
    const segment = this.segmentFrom(position + 1);
    if (segment === undefined || segment.last > end || !holds(segment)) return undefined;
    return this.#pointBefore(segment.last + 1).link === segment.link ? segment : undefined;
  }

  /** The first segment that begins at `position` or after it. */
  segmentFrom(position: number): SealedSegment | undefined {
    return this.#ask(({ segmentFrom, partsBetween }) => {
      const segment = segmentFrom.get(position, 1);
      return segment && { ...segment, parts: partsBetween.all(segment.first, segment.last).map(partFrom) };
    });
  }

  /** The segment that holds the event at `position`. */
  segmentAt(position: number): SealedSegment | undefined {
    const first = this.#ask(({ segmentBefore }) => segmentBefore.get(position, 1));
    const segment = first === undefined ? undefined : this.segmentFrom(first);
    return segment !== undefined && segment.last >= position ? segment : undefined;
  }

  endOf(until: number): number {
    return this.#pointBefore(until + 1).position;
  }

  *rows(until?: number): Generator<LogRow, void, void> {
    const end = until === undefined ? this.head : this.endOf(until);
    for (const run of this.runs(START, end)) for (const row of run) yield this.#logRow(row);
  }

  *marks(): Generator<{ readonly position: number; readonly stateHash: string }, void, void> {
    yield* this.#ask(({ marks }) => marks.all());
  }

  /** Reads everything: SQLite's own check of pages and indexes, then the chain from the first event. */
  verify(): LogReport {
    const seen = { events: 0, head: 0, batches: 0, link: GENESIS };
    try {
      const damage = this.damage('integrity_check');
      for (const run of this.runs(START)) {
        const last = run[run.length - 1]!;
        seen.events += run.length;
        for (const row of run) if (row[7] !== null) seen.batches++;
        [seen.head, seen.link] = [last[0], last[7]!];
      }
      this.#verifySegments();
      return { ...seen, broken: damage === null ? null : { position: seen.head, reason: damage } };
    } catch (error) {
      if (!(error instanceof LogUnreadable)) throw error;
      const [position, reason] =
        error instanceof BrokenChain ? [error.position, error.reason] : [seen.head + 1, error.message];
      return { ...seen, broken: { position, reason } };
    }
  }

  /** Segments are made anew from the rows and must come out the same. */
  #verifySegments(): void {
    for (let at = 1; ;) {
      const segment = this.segmentFrom(at);
      if (segment === undefined) return;
      const same = holds(segment) && this.sealedAgain(segment)?.hash === segment.hash;
      if (same) at = segment.last + 1;
      // Unless the owner has sealed it anew in between, when it redacted an event.
      else if (this.segmentFrom(at)?.hash === segment.hash)
        throw new BrokenChain(segment.first, 'the sealed segment is not what the rows say');
    }
  }

  /** A segment made anew from its rows. */
  sealedAgain({ first, last, before }: SealedSegment): SealedSegment | undefined {
    const start = { position: first - 1, link: before };
    const [again] = segmentsOf(this.runs(start, last), start, (number) => this.#word(number), last);
    return again;
  }

  /** The next segments that could be sealed. Lazy. */
  *sealable(): Generator<SealedSegment, void, void> {
    const start = this.#ask(({ lastSegment }) => lastSegment.get(1)) ?? START;
    yield* segmentsOf(this.runs(start), start, (number) => this.#word(number));
  }

  /** What SQLite finds wrong with the file, or `null`. */
  damage(check: 'quick_check' | 'integrity_check'): string | null {
    const found = this.#ask(({ db }) => db.pragma(`${check}(1)`, { simple: true }));
    return found === 'ok' ? null : `the file is damaged: ${String(found)}`;
  }

  settings(): LogSettings {
    return this.#ask(({ db }) => settingsOf(db));
  }

  close(): void {
    this.#source().db.close();
  }

  /** Checked rows from after `start` to the end of a batch, the head of now when none is given, in runs of whole batches. */
  runs(start: ChainPoint, end: number = this.head): Generator<readonly StoredRow[], void, void> {
    const page = (from: number, limit: number): readonly StoredRow[] => this.#page(from, limit);
    return verifiedRows({ page, word: (number) => this.#word(number), salt: this.salt }, start, end);
  }

  /** Checks the chain of the newest `events` and returns where it ends. *Errors*: {@link BrokenChain}. */
  tail(events: number): ChainPoint {
    const { last } = this;
    let held = this.#pointBefore(last.position - events + 1);
    for (const run of this.runs(held)) held = { position: run.at(-1)![0], link: run.at(-1)![7]! };
    if (held.position !== last.position)
      throw new BrokenChain(held.position + 1, `the log ends before ${last.position}`);
    return held;
  }

  #pointBefore(from: number): ChainPoint {
    const before = this.#ask(({ linkBefore }) => linkBefore.get(from, 1));
    return before === undefined ? START : { position: before.position, link: before.link! };
  }

  /** Rows with their payloads, wherever these lie. */
  #page(from: number, limit: number): readonly StoredRow[] {
    // Rows and packs of one moment: between two questions the owner may have unpacked them.
    return this.#ask(({ db, eventsFrom }) =>
      db.transaction(() => {
        const rows = eventsFrom.all(from, limit);
        return rows.some(isPacked) ? rows.map((row) => this.#whole(row)) : rows;
      })(),
    );
  }

  #whole(row: StoredRow): StoredRow {
    if (!isPacked(row)) return row;
    const [position, id, at, cause, type, schema, rules, link, payloadHash] = row;
    return [position, id, at, cause, type, schema, rules, link, payloadHash, this.#payloadAt(position)];
  }

  /** `null` where no pack holds it: the chain then breaks there. */
  #payloadAt(position: number): string | null {
    const held = this.#pack.payloads[position - this.#pack.first];
    if (held !== undefined) return held;
    const segment = this.segmentAt(position);
    if (segment === undefined || !holds(segment)) return null;
    this.#pack = { first: segment.first, payloads: segment.parts.flatMap(payloadsOf) };
    return this.#pack.payloads[position - segment.first] ?? null;
  }

  #word(number: number): string {
    return this.#words[number] ?? this.#learn(number);
  }

  /** The owner may have added words since. */
  #learn(number: number): string {
    const words: string[] = [];
    for (const { number: at, text } of this.#ask(({ words: all }) => all.all())) words[at] = text;
    this.#words = words;
    const found = words[number];
    if (found === undefined) throw new LogUnreadable(`${this.path} names no word ${number}: restore a backup`);
    return found;
  }

  #raw(row: StoredRow): RawEvent {
    const data = row[9] === null ? null : (JSON.parse(row[9]) as Record<string, unknown>);
    const [type, rules] = [this.#word(row[4]), this.#word(row[6])];
    return { position: row[0], type, data, id: row[1], at: row[2], cause: row[3], schema: row[5], rules };
  }

  #logRow(row: StoredRow): LogRow {
    const [position, id, at, cause, type, schema, rules, link, hash, payload] = row;
    const payloadHash = payload === null ? hash! : hashPayload(this.salt, payload);
    const words = { type: this.#word(type), rules: this.#word(rules) };
    return { position, id, at, cause, schema, ...words, link, payloadHash, payload };
  }

  #ask<T>(question: (connection: Connection) => T): T {
    try {
      const connection = this.#source();
      if (!connection.db.open) throw closedLog(this.path);
      return question(connection);
    } catch (error) {
      throw logError(error, this.path);
    }
  }
}

/** What a log says to those who use it after it was closed. */
export function closedLog(path: string): LogUnavailable {
  return new LogUnavailable(`the log ${path} was closed: open it again`);
}
