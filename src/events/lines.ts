/** Text files line by line, in and out, at the pace of whoever pulls; no line and no file is ever held whole by accident. */
import { isUtf8 } from 'node:buffer';
import { closeSync, fsyncSync, lstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Of the first line, `{"dacapoLog"`: so many tell a file of ours from any other. */
const KIND_CHARACTERS = 12;

/** A line that can't be taken: too long, or not UTF-8. */
export class BadLine extends Error {
  override readonly name = 'BadLine';
  readonly line: number;
  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

/**
 * The lines of a file, without their ends; a last line without an end counts. The file is open only while it is read. *Errors*:
 * {@link BadLine}, and what the file system throws.
 */
export function* readLines(path: string, maxBytes: number): Generator<string, void, void> {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    let line = 0;
    for (let bytes = readSync(file, chunk); bytes > 0; bytes = readSync(file, chunk)) {
      const held = Buffer.concat([rest, chunk.subarray(0, bytes)]);
      const end = held.lastIndexOf(NEWLINE) + 1;
      const { texts, isWhole } = textLines(held.subarray(0, end));
      for (const text of texts) {
        line++;
        if (text.length > maxBytes) throw tooLong(line, maxBytes);
        yield text;
      }
      if (!isWhole) throw new BadLine(line + 1, 'not UTF-8');
      rest = held.subarray(end);
      if (rest.length > maxBytes) throw tooLong(line + 1, maxBytes);
    }
    if (rest.length === 0) return;
    if (!isUtf8(rest)) throw new BadLine(line + 1, 'not UTF-8');
    yield rest.toString();
  } finally {
    closeSync(file);
  }
}

/**
 * Whole lines, each with its end, as text; `isWhole` is false where one of them is not UTF-8, and the texts are those before it. Checked
 * in one go, as a lenient decoder would change what a hash was made of.
 */
function textLines(bytes: Buffer): { readonly texts: readonly string[]; readonly isWhole: boolean } {
  if (bytes.length === 0) return { texts: [], isWhole: true };
  if (isUtf8(bytes)) return { texts: bytes.toString('utf8', 0, bytes.length - 1).split('\n'), isWhole: true };
  const texts: string[] = [];
  for (let start = 0; ;) {
    const end = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, end);
    if (!isUtf8(line)) return { texts, isWhole: false };
    texts.push(line.toString());
    start = end + 1;
  }
}

function tooLong(line: number, maxBytes: number): BadLine {
  return new BadLine(line, `longer than ${maxBytes} bytes`);
}

/** There is something where a file was to be written, and it is not for us to replace. */
export class FileInTheWay extends Error {
  override readonly name = 'FileInTheWay';
  constructor(path: string) {
    super(`${path} is there already, and is no older file of this kind`);
  }
}

/**
 * Writes lines to a file that others may not read. It appears whole or not at all. One that is there is replaced when it
 * begins with the same characters. *Errors*: {@link FileInTheWay} for anything else, which nobody wants to lose by a slip of the pen.
 */
export function writeLines(path: string, lines: Iterable<string>): void {
  const partial = `${path}.partial`;
  const source = lines[Symbol.iterator]();
  const first = source.next();
  // Before all the others are asked for: a long log takes a while. What a killed one left half is replaced likewise.
  for (const there of [path, partial])
    if (!isReplaceable(there, first, there === partial)) throw new FileInTheWay(there);
  rmSync(partial, { force: true });
  const file = openSync(partial, 'wx', 0o600);
  try {
    writeAndClose(file, rest(source, first));
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function* rest(source: Iterator<string>, first: IteratorResult<string>): Generator<string, void, void> {
  for (let next = first; next.done !== true; next = source.next()) yield next.value;
}

/** Links and devices are not: it would be them that go, and not what they stand for. */
function isReplaceable(path: string, first: IteratorResult<string>, mayBeCut: boolean): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return true;
  const begin = first.done === true ? '' : `${first.value}\n`.slice(0, KIND_CHARACTERS);
  if (!found.isFile()) return false;
  // An empty one is none of ours, unless it was cut off: a lock is empty.
  return mayBeCut ? begin.startsWith(beginOf(path)) : begin === beginOf(path);
}

function beginOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const begin = Buffer.alloc(KIND_CHARACTERS);
    return begin.toString('latin1', 0, readSync(file, begin));
  } finally {
    closeSync(file);
  }
}

function writeAndClose(file: number, lines: Iterable<string>): void {
  try {
    writeAll(file, lines);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, lines: Iterable<string>): void {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK_BYTES) continue;
    writeText(file, text);
    text = '';
  }
  writeText(file, text);
}

/** A write may take less than it was given. */
function writeText(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}
