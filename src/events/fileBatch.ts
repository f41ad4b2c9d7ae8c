/** The events of a log file between two links. */
import { BrokenChain, hashPayload, headerOf, linkOf } from './chain.ts';
import type { RecordedEvent } from './log.ts';
import { LogFileError, NEXT, parseLine } from './logFileLines.ts';
import { parseRecorded } from './parse.ts';

/** Events that wait for the link that binds them. */
export class FileBatch {
  readonly events: RecordedEvent[] = [];
  readonly #first: number;
  readonly #previous: string;
  /** `undefined` in a redacted file: payloads then can't be held against their hashes. */
  readonly #salt: string | undefined;
  /** Schema of each event as it stands in the file, and the hash of its payload there. */
  readonly #rows: { readonly schema: number; readonly payloadHash: string | null }[] = [];

  constructor(first: number, previous: string, salt: string | undefined) {
    this.#first = first;
    this.#previous = previous;
    this.#salt = salt;
  }

  get #next(): number {
    return this.#first + this.events.length;
  }

  after(link: string): FileBatch {
    return new FileBatch(this.#next, link, this.#salt);
  }

  add(path: string, value: unknown, line: number): void {
    const event = parseLine(path, line, () => parseRecorded(value));
    const { position } = event;
    if (position !== this.#next)
      throw new LogFileError(path, line, `position ${position} where ${this.#next} comes next`, NEXT);
    const { data, schema } = value as { readonly data: unknown; readonly schema: number };
    const salt = data === null ? undefined : this.#salt;
    const payloadHash =
      salt === undefined ? null : parseLine(path, line, () => hashPayload(salt, JSON.stringify(data)));
    this.events.push(event);
    this.#rows.push({ schema, payloadHash });
  }

  /** *Errors*: {@link BrokenChain} when the link, or a payload that was not redacted, is not what was recorded. */
  check(last: number, link: string, stated: readonly string[] | undefined): void {
    if (last !== this.#next - 1 || this.#rows.length === 0)
      throw new BrokenChain(this.#first, `a link for position ${last} follows position ${this.#next - 1}`);
    if (stated !== undefined && stated.length !== this.#rows.length)
      throw new BrokenChain(this.#first, `${stated.length} payload hashes for ${this.#rows.length} events`);
    const headers = this.#rows.map(({ schema, payloadHash }, index) => {
      const hash = stated?.[index] ?? payloadHash;
      if (hash === null) throw new BrokenChain(this.#first + index, 'the payload is gone without its hash');
      if (payloadHash !== null && payloadHash !== hash)
        throw new BrokenChain(this.#first + index, 'the payload does not match its hash');
      const { id, at, cause, type, rules } = this.events[index]!;
      return headerOf(id, at, cause, type, schema, rules, hash);
    });
    if (linkOf(this.#previous, this.#first, headers.length, headers.join('')) !== link)
      throw new BrokenChain(this.#first, 'the batch does not match its link');
  }

  /** *Errors*: {@link BrokenChain} when the file was cut off. */
  end(head: number | undefined): void {
    if (this.events.length > 0) throw new BrokenChain(this.#first, 'the file ends before the link of this batch');
    if (head !== undefined && head !== this.#next - 1)
      throw new BrokenChain(this.#next, `the file ends here, but was written up to position ${head}`);
  }
}
