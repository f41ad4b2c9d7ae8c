/**
 * One POST over a dispatcher, its answer taken as it comes. The same contract as a stream of Node's, in the few steps that this needs:
 * a stream that is made, listened to and closed for each call costs as much as the rest of the call.
 *
 * The dispatcher is undici's, known here by its shape: whoever owns sockets brings it.
 */
import type { HeaderFields } from './fields.ts';
import type { PostResponse } from './post.ts';
import type { Stop } from './stop.ts';

export interface Dispatching {
  dispatch(request: DispatchedRequest, handler: AnswerHandler): boolean;
}

export interface DispatchedRequest {
  /** Where the dispatcher is not already of one. */
  readonly origin?: string;
  readonly path: string;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** 0: the deadlines of whoever asks hold. */
  readonly headersTimeout?: number;
  readonly bodyTimeout?: number;
}

interface Controller {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

interface AnswerHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: HeaderFields): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller, error: Error): void;
}

export interface Reading {
  readonly stop: Stop;
  /** Above so many bytes the answer is an error. */
  readonly maxBytes?: number;
  /**
   * How long an answer that is not wanted any more may still end by itself, which leaves its connection for the next request;
   * default 0: it is cut at once.
   */
  readonly lingerMs?: number;
  /** Asked before each chunk is handed out: whoever passes them on may be slower than the server. Undefined: it is not. */
  readonly rest?: () => Promise<void> | undefined;
}

type Chunk = IteratorResult<Uint8Array, undefined>;

/** Held for a reader that is slower than the server; above it nothing more is read from the connection. */
const HELD_BYTES = 262_144;
/** Read of an answer that is not wanted any more, to keep its connection. */
const LINGER_BYTES = 65_536;

/** Resolves when the headers are there; rejects when there are none, or at once when it is given up. */
export function postStreamed(
  dispatcher: Dispatching,
  request: Omit<DispatchedRequest, 'method'>,
  reading: Reading,
): Promise<PostResponse> {
  return new Promise((resolve, reject) => {
    if (reading.stop.reason !== undefined) throw reading.stop.reason;
    dispatcher.dispatch({ ...request, method: 'POST' }, new StreamedAnswer(reading, resolve, reject));
  });
}

class StreamedAnswer implements AnswerHandler, AsyncIterableIterator<Uint8Array> {
  readonly #reading: Reading;
  /** Bytes after which it is too large. */
  #maxBytes: number;
  readonly #begun: (response: PostResponse) => void;
  readonly #failed: (error: Error) => void;
  #controller: Controller | undefined;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #read = 0;
  #error: Error | undefined;
  #over = false;
  #wake: (() => void) | undefined;
  /** Ends the rest of a read that waits for it. */
  #rouse: (() => void) | undefined;
  readonly #release: () => void;
  /** Runs while the answer may still end by itself. */
  #lingering: NodeJS.Timeout | undefined;

  constructor(reading: Reading, begun: (response: PostResponse) => void, failed: (error: Error) => void) {
    this.#reading = reading;
    this.#maxBytes = reading.maxBytes ?? Infinity;
    this.#begun = begun;
    this.#failed = failed;
    this.#release = reading.stop.listen((why) => this.#end(why));
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // It was given up while it waited for a connection.
    if (this.#error !== undefined) controller.abort(this.#error);
  }

  onResponseStart(_: Controller, status: number, headers: HeaderFields): void {
    if (status < 200) return;
    this.#begun({ status, headers, body: this, destroy: () => this.#leave() });
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    this.#read += chunk.byteLength;
    if (this.#read > this.#maxBytes) return this.#end(new RangeError('the answer is too large'));
    if (this.#lingering !== undefined) return;
    this.#chunks.push(chunk);
    this.#held += chunk.byteLength;
    if (this.#held > HELD_BYTES) controller.pause();
    this.#tell();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(_: Controller, error: Error): void {
    this.#finish(error);
  }

  next(): Promise<Chunk> {
    const rest = this.#reading.rest?.();
    return rest === undefined ? this.#next() : this.#rested(rest).then(() => this.#next());
  }

  return(): Promise<Chunk> {
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** A reader that never takes what it got must not hold an answer that was given up. */
  async #rested(rest: Promise<void>): Promise<void> {
    const ended = new Promise<void>((resolve) => (this.#rouse = resolve));
    await Promise.race([rest, ended]);
    this.#rouse = undefined;
  }

  #next(): Promise<Chunk> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: this.#taken(chunk) });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    return new Promise<void>((resolve) => (this.#wake = resolve)).then(() => this.#next());
  }

  #taken(chunk: Uint8Array): Uint8Array {
    this.#held -= chunk.byteLength;
    if (this.#controller?.paused === true && this.#held === 0) this.#controller.resume();
    return chunk;
  }

  /** What is left is not wanted. Nothing for an answer that is complete, which is nearly every one: an error costs its stack. */
  #leave(): void {
    if (this.#lingering !== undefined) return;
    if (this.#over && this.#rouse === undefined) return this.#release();
    const why = new Error('no longer wanted');
    const { lingerMs = 0 } = this.#reading;
    if (this.#over || lingerMs === 0) return this.#end(why);
    this.#drop(why);
    this.#maxBytes = this.#read + LINGER_BYTES;
    this.#lingering = setTimeout(() => this.#end(why), lingerMs);
    if (this.#controller?.paused === true) this.#controller.resume();
  }

  /** Hands nothing out any more, and closes the connection of an answer that is not complete. */
  #end(why: Error): void {
    this.#release();
    this.#drop(why);
    if (this.#over) return;
    this.#finish(why);
    this.#controller?.abort(why);
  }

  #drop(why: Error): void {
    this.#chunks = [];
    this.#error ??= why;
    this.#rouse?.();
    this.#tell();
  }

  #finish(error: Error | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#error ??= error;
    clearTimeout(this.#lingering);
    if (error !== undefined) this.#failed(error);
    this.#tell();
  }

  #tell(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
