/**
 * Reading a log file, line by line, as a log that nobody may append to. It may come from anywhere, so every line is checked by the
 * catalogue, positions must have no gaps, and an event is handed out only after the link of its batch held.
 */
import { BrokenChain, GENESIS } from './chain.ts';
import { FileBatch } from './fileBatch.ts';
import type { LogReader, LogReport, RecordedEvent } from './log.ts';
import { isMark, jsonLines, LogFileError, NEXT, parseHeader, parseMark, type LogFileHeader } from './logFileLines.ts';

/** A log in a file: a {@link LogReader} with the file's header. */
export interface LogFile extends LogReader {
  readonly path: string;
  readonly header: LogFileHeader;
}

/** Opens a log file and reads its header. *Errors*: {@link LogFileError} for what is no log file or a newer one; LogUnavailable. */
export function openLogFile(path: string): LogFile {
  for (const { value, line } of jsonLines(path)) return new FileLog(path, parseHeader(path, value, line));
  throw new LogFileError(path, 1, 'the file is empty', NEXT);
}

class FileLog implements LogFile {
  readonly path: string;
  readonly header: LogFileHeader;
  #head: number | undefined;

  constructor(path: string, header: LogFileHeader) {
    this.path = path;
    this.header = header;
    this.#head = header.head;
  }

  /** Reads the file once when its header does not say. */
  get head(): number {
    return (this.#head ??= this.verify().head);
  }

  *read(from = 1): Generator<RecordedEvent, void, void> {
    for (const { events } of this.#batches()) for (const event of events) if (event.position >= from) yield event;
  }

  *marks(): Generator<{ readonly position: number; readonly stateHash: string }, void, void> {
    // Read beside the events: parsing each of these once more would double the price of a replay.
    for (const { value, line } of jsonLines(this.path, (text) => text.includes('"mark"'))) {
      const mark = isMark(value) ? parseMark(this.path, value, line) : undefined;
      if (mark?.stateHash !== undefined) yield { position: mark.mark, stateHash: mark.stateHash };
    }
  }

  verify(): LogReport {
    const seen = { events: 0, head: 0, batches: 0, link: GENESIS as string };
    try {
      for (const { events, link } of this.#batches()) {
        seen.events += events.length;
        seen.head += events.length;
        if (link !== null) [seen.batches, seen.link] = [seen.batches + 1, link];
      }
      return { ...seen, broken: null };
    } catch (error) {
      if (error instanceof BrokenChain) return { ...seen, broken: { position: error.position, reason: error.reason } };
      if (!(error instanceof LogFileError)) throw error;
      return { ...seen, broken: { position: seen.head + 1, reason: error.reason } };
    }
  }

  close(): void {
    // The file is open only while it is read.
  }

  /** Checked batches; in a file without a chain every event by itself. */
  *#batches(): Generator<{ readonly events: readonly RecordedEvent[]; readonly link: string | null }, void, void> {
    const chained = this.header.chain !== undefined;
    let batch = new FileBatch(1, GENESIS, this.header.chain?.salt);
    for (const { value, line } of jsonLines(this.path)) {
      if (line === 1) continue;
      if (!isMark(value)) {
        batch.add(this.path, value, line);
        if (!chained) yield { events: batch.events, link: null };
        if (!chained) batch = batch.after(GENESIS);
        continue;
      }
      const mark = parseMark(this.path, value, line);
      if (!chained || mark?.link === undefined) continue;
      batch.check(mark.mark, mark.link, mark.payloadHashes);
      yield { events: batch.events, link: mark.link };
      batch = batch.after(mark.link);
    }
    batch.end(this.header.head);
  }
}
