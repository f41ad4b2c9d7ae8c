/** What shim.c is told, and what it wrote down. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** In the order of `enum mode` in shim.c. `half` writes half and ends the process, `full` refuses every write from there on, `unsynced` every sync. */
const MODES = ['off', 'count', 'kill', 'half', 'fail', 'full', 'unsynced'] as const;
export type Mode = (typeof MODES)[number];

/** One operation on a file. `note` is not one: it is what the process said at that point, see {@link Control.note}. */
export interface Operation {
  readonly kind: 'write' | 'sync' | 'truncate' | 'unlink' | 'rename' | 'create' | 'note';
  readonly failed: boolean;
  readonly path: string;
  /** Where a write begins, or the size that a truncation leaves. */
  readonly offset: number;
  /** What was written, or the new path of a renamed file. */
  readonly data: Buffer;
}

const KINDS: Readonly<Record<string, Operation['kind']>> = {
  W: 'write',
  S: 'sync',
  T: 'truncate',
  U: 'unlink',
  R: 'rename',
  C: 'create',
  N: 'note',
};
const HEADER_BYTES = 16;
const CONTROL_BYTES = 512;

/** Compiles the shim into `folder` and returns its path, or `undefined` where there is no gcc. */
export function compileShim(folder: string): string | undefined {
  const shim = join(folder, 'shim.so');
  const source = join(import.meta.dirname, 'shim.c');
  return spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', shim, source]).status === 0 ? shim : undefined;
}

/** Environment of a process that the shim is loaded into. */
export function withShim(shim: string, control: string): NodeJS.ProcessEnv {
  return { ...process.env, LD_PRELOAD: shim, CRASH_CONTROL: control };
}

/** The memory shared with a shim; of this process or of another that is about to start. */
export class Control {
  readonly path: string;
  readonly #fd: number;

  /** A file that is there stays as it is: this process may have mapped it, and dies of a shorter one. */
  constructor(path: string) {
    this.path = path;
    if (!existsSync(path)) writeFileSync(path, Buffer.alloc(CONTROL_BYTES));
    writeFileSync(`${path}.record`, '');
    this.#fd = openSync(path, 'r+');
  }

  /** From now on operations below `folder` are counted from 1, and number `at` meets its fate. */
  arm(folder: string, mode: Mode = 'count', at = 0, recorded = false): void {
    const told = Buffer.alloc(CONTROL_BYTES);
    told.writeInt32LE(MODES.indexOf(mode), 0);
    told.writeInt32LE(recorded ? 1 : 0, 4);
    told.writeBigInt64LE(BigInt(at), 8);
    told.write(folder, 24);
    writeSync(this.#fd, told, 0, CONTROL_BYTES, 0);
  }

  /** Nothing fails any more; counting and recording go on. */
  relent(): void {
    writeSync(this.#fd, Buffer.from([MODES.indexOf('count'), 0, 0, 0]), 0, 4, 0);
  }

  /** Ends it and returns how many operations there were. */
  disarm(): number {
    const count = Buffer.alloc(8);
    readSync(this.#fd, count, 0, 8, 16);
    writeSync(this.#fd, Buffer.alloc(8), 0, 8, 0);
    return Number(count.readBigInt64LE());
  }

  /** Puts a word of the process itself among the operations, in its place. */
  note(text: string): void {
    const [data, header] = [Buffer.from(text), Buffer.alloc(HEADER_BYTES)];
    header.write('N');
    header.writeUInt32LE(data.length, 4);
    appendFileSync(`${this.path}.record`, Buffer.concat([header, data]));
  }

  /** What was recorded since the last time, in order. */
  take(): readonly Operation[] {
    const operations = parse(readFileSync(`${this.path}.record`));
    truncateSync(`${this.path}.record`);
    return operations;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function parse(bytes: Buffer): readonly Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < bytes.length;) {
    const [pathLength, length] = [bytes.readUInt16LE(at + 2), bytes.readUInt32LE(at + 4)];
    const [from, to] = [at + HEADER_BYTES, at + HEADER_BYTES + pathLength];
    operations.push({
      kind: KINDS[String.fromCharCode(bytes[at]!)]!,
      failed: bytes[at + 1] === 1,
      path: bytes.toString('utf8', from, to),
      offset: Number(bytes.readBigInt64LE(at + 8)),
      data: bytes.subarray(to, to + length),
    });
    at = to + length;
  }
  return operations;
}
