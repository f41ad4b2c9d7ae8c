/**
 * A log as JSON lines: what is handed over in an incident and what `replay` reads. A header; then events with the payload's exact
 * text; after each batch a mark with its link. Where payloads were redacted, the mark also bears the hashes of the originals, so that
 * the chain of a redacted file can still be checked, and the salt of those hashes stays at home.
 */
import { GENESIS, type LogRow, type RowSource } from './chain.ts';
import { RULES, SCHEMA } from './catalogue.ts';
import type { LogReader } from './log.ts';
import { redactor } from './redact.ts';

/** Version of the log file. Raised only together with a reader for the one before. */
export const LOG_FILE_VERSION = 1;

export interface ExportOptions {
  /** Version of the program that exports. */
  readonly package: string;
  /** When given, names of accounts become pseudonyms under this key. */
  readonly redactKey?: string | Uint8Array;
  /** Position that no batch in the file goes beyond; absent: the head. What comes after it is not read, so it need not hold. */
  readonly until?: number | undefined;
}

/** The lines of a log file, without line ends. Streams: a long log costs no memory. *Errors*: those of reading the log. */
export function* exportLines(log: LogReader & RowSource, options: ExportOptions): Generator<string, void, void> {
  // A hash without salt tells everybody who tries which name was redacted.
  if (options.redactKey !== undefined && log.salt === '') throw new RangeError('a log without salt cannot be redacted');
  const redact = options.redactKey === undefined ? undefined : redactor(options.redactKey);
  const marks = log.marks()[Symbol.iterator]();
  let mark = marks.next();
  let hashes: string[] = [];
  let redacted = redact !== undefined;
  const { until } = options;
  yield headerLine(log, options.package, redact !== undefined, until === undefined ? log.head : log.endOf(until));
  for (const row of log.rows(until)) {
    const payload = redact === undefined ? row.payload : redactText(redact, row);
    redacted ||= payload === null;
    hashes.push(row.payloadHash);
    yield eventLine(row, payload);
    const stateHash = mark.done !== true && mark.value.position === row.position ? mark.value.stateHash : undefined;
    if (stateHash !== undefined) mark = marks.next();
    if (row.link === null && stateHash === undefined) continue;
    const bound = row.link === null ? undefined : { link: row.link, ...(redacted && { payloadHashes: hashes }) };
    yield JSON.stringify({ mark: row.position, stateHash, ...bound });
    if (row.link !== null) [hashes, redacted] = [[], redact !== undefined];
  }
}

function headerLine(log: RowSource, version: string, redacted: boolean, head: number): string {
  const chain = { algorithm: 'sha256', genesis: GENESIS, ...(!redacted && { salt: log.salt }) };
  return JSON.stringify({
    dacapoLog: LOG_FILE_VERSION,
    package: version,
    rules: RULES,
    schema: SCHEMA,
    chain,
    head,
    redacted,
  });
}

/** The payload goes in as text: parsing and writing it again could only change it. */
function eventLine(row: LogRow, payload: string | null): string {
  const { position, type, id, at, cause, schema, rules } = row;
  const envelope = JSON.stringify({ position, type, id, at, cause, schema, rules });
  return `${envelope.slice(0, -1)},"data":${payload}}`;
}

function redactText(redact: ReturnType<typeof redactor>, { type, schema, payload }: LogRow): string | null {
  if (payload === null) return null;
  const known = schema <= SCHEMA ? type : '';
  return JSON.stringify(redact(known, JSON.parse(payload) as Record<string, unknown>));
}
