/**
 * Bytes of a pipe → lines of text. Bounded: a line above the cap ends the pipe, because a child that never ends its line would
 * otherwise take the daemon's memory. UTF-8 that is not UTF-8 is refused, never repaired (a repaired text is another message).
 */
export class LineReader {
  readonly #cap: number;
  #held: Buffer[] = [];
  #size = 0;

  constructor(cap: number) {
    this.#cap = cap;
  }

  /** The lines that this chunk completes. Throws a RangeError when a line passes the cap. */
  *read(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#hold(chunk.subarray(from, end));
      yield this.#take();
      from = end + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  #hold(part: Buffer): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#cap) throw new RangeError(`a line of more than ${this.#cap} bytes`);
    this.#held.push(part);
  }

  #take(): Buffer {
    const [first] = this.#held;
    const line = this.#held.length === 1 && first !== undefined ? first : Buffer.concat(this.#held);
    this.#held = [];
    this.#size = 0;
    return line;
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** The text of a line without its line end; undefined when the bytes are not UTF-8. */
export function textOf(line: Buffer): string | undefined {
  try {
    return strict.decode(line.at(-1) === 13 ? line.subarray(0, -1) : line);
  } catch {
    return undefined;
  }
}

/** The last bytes of a stream: enough to say why a child died, whatever it wrote before. */
export class Tail {
  readonly #cap: number;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(cap: number) {
    this.#cap = cap;
  }

  push(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-this.#cap);
  }

  text(): string {
    return this.#bytes.toString('utf8');
  }
}

export interface Bounds {
  readonly lines: number;
  readonly bytes: number;
  readonly perMs: number;
}

/** So much in any one stretch of time, and not a line more. */
export class Allowance {
  readonly #bounds: Bounds;
  #beganMs = -Infinity;
  #lines = 0;
  #bytes = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** One more line. Throws a RangeError when it is too much. `nowMs` never goes back. */
  spend(size: number, nowMs: number): void {
    const { lines, bytes, perMs } = this.#bounds;
    if (nowMs - this.#beganMs >= perMs) {
      this.#beganMs = nowMs;
      this.#lines = this.#bytes = 0;
    }
    this.#lines += 1;
    this.#bytes += size;
    if (this.#lines > lines || this.#bytes > bytes)
      throw new RangeError(
        `more than ${lines} lines or ${bytes} bytes on stdout within ${perMs} ms that answer nothing: a log belongs on stderr`,
      );
  }
}
