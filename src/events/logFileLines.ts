/** The lines of a log file: header, marks, and what is neither; and the error that names a line. */
import { z } from 'zod';
import { GENESIS } from './chain.ts';
import { LOG_FILE_VERSION } from './exportLog.ts';
import { BadLine, readLines } from './lines.ts';
import { LogUnreadable } from './log.ts';
import { logError } from './logError.ts';
import { BadEvent } from './parse.ts';

/** A snapshot's body may have 4 MiB; nothing else comes near. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

const headerSchema = z.object({
  dacapoLog: z.number().int().positive(),
  package: z.string(),
  rules: z.string(),
  /** Absent in a file that was written by hand: then only positions and shapes are checked. */
  chain: z
    .object({ algorithm: z.literal('sha256'), genesis: z.literal(GENESIS), salt: z.string().optional() })
    .optional(),
  /** Position that the file ends at; tells a file that was cut off. */
  head: z.number().int().nonnegative().optional(),
  redacted: z.boolean().optional(),
});
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const markSchema = z.object({
  mark: z.number().int().positive(),
  stateHash: z.string().max(256).optional(),
  link: hex.optional(),
  payloadHashes: z.array(hex).optional(),
});

export type LogFileHeader = z.output<typeof headerSchema>;
export type Mark = z.output<typeof markSchema>;

/** A line that does not belong there. `line` counts from 1. */
export class LogFileError extends LogUnreadable {
  readonly line: number;
  /** The message without its next step. */
  readonly reason: string;
  readonly next: string;
  constructor(path: string, line: number, reason: string, next: string, options?: ErrorOptions) {
    const where = `${path}, line ${line}: ${reason}`;
    super(`${where}; ${next}`, options);
    this.line = line;
    this.reason = where;
    this.next = next;
  }
}

/** What to do about a bad file, mostly. */
export const NEXT = 'export the log again with "dacapo log export"';

/** A line's JSON, and its number from 1. */
export interface JsonLine {
  readonly value: unknown;
  readonly line: number;
}

/** Whether a line is a mark, known or not. */
export function isMark(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'mark');
}

/** `undefined` for a mark of a kind that this version does not know. */
export function parseMark(path: string, value: unknown, line: number): Mark | undefined {
  const known = ['stateHash', 'link', 'payloadHashes'].some((name) => Object.hasOwn(value as object, name));
  if (!known) return undefined;
  const mark = markSchema.safeParse(value);
  if (mark.success) return mark.data;
  const field = mark.error.issues[0]?.path.join('.') ?? '';
  throw new LogFileError(path, line, `bad mark at ${field}: ${mark.error.issues[0]?.message ?? ''}`, NEXT);
}

/** *Errors*: {@link LogFileError} for what is no header, or of a newer version. */
export function parseHeader(path: string, value: unknown, line: number): LogFileHeader {
  const version =
    typeof value === 'object' && value !== null ? (value as { dacapoLog?: unknown }).dacapoLog : undefined;
  if (typeof version === 'number' && version > LOG_FILE_VERSION)
    throw new LogFileError(path, line, `log file version ${version}, known up to ${LOG_FILE_VERSION}`, 'upgrade');
  const header = headerSchema.safeParse(value);
  if (header.success) return header.data;
  throw new LogFileError(path, line, 'not the header of a log file', NEXT);
}

/** Every line that is not blank, and `wanted` by its text, as JSON. *Errors*: {@link LogFileError}; LogUnavailable when the file can't be read. */
export function* jsonLines(
  path: string,
  wanted: (text: string) => boolean = () => true,
): Generator<JsonLine, void, void> {
  let line = 0;
  try {
    for (const text of readLines(path, MAX_LINE_BYTES)) {
      line++;
      if (text.trim() !== '' && wanted(text))
        yield { value: parseLine(path, line, () => JSON.parse(text) as unknown), line };
    }
  } catch (error) {
    if (error instanceof BadLine) throw new LogFileError(path, error.line, error.message, NEXT);
    throw logError(error, path);
  }
}

/** Errors of one line name it; a parser's own message is left out, as it quotes the text. */
export function parseLine<T>(path: string, line: number, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof BadEvent) throw new LogFileError(path, line, error.reason, error.next, { cause: error });
    if (error instanceof SyntaxError) throw new LogFileError(path, line, 'not JSON', NEXT);
    if (error instanceof RangeError) throw new LogFileError(path, line, 'nested too deep', NEXT);
    throw error;
  }
}
