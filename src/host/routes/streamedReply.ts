/**
 * One POST over a dispatcher, its answer taken as it comes. The same contract as a stream of Node's, in the few steps that this needs:
 * a stream that is made, listened to and closed for each call costs as much as the rest of the call.
 */
import type { Dispatcher } from 'undici';
import type { PostResponse } from '../../protocol/index.ts';

type Options = Pick<Dispatcher.DispatchOptions, 'path' | 'headers' | 'body'>;
type Chunk = IteratorResult<Uint8Array, undefined>;

/** Held for a reader that is slower than the server; above it nothing more is read from the connection. */
const HELD_BYTES = 262_144;

/** Resolves when the headers are there; rejects when there are none, or at once when the signal aborts. */
export function postStreamed(dispatcher: Dispatcher, options: Options, signal: AbortSignal): Promise<PostResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    dispatcher.dispatch({ ...options, method: 'POST' }, new StreamedReply(signal, resolve, reject));
  });
}

class StreamedReply implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  readonly #signal: AbortSignal;
  readonly #begun: (response: PostResponse) => void;
  readonly #failed: (error: Error) => void;
  readonly #giveUp = (): void => this.#end(reasonOf(this.#signal));
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #error: Error | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal, begun: (response: PostResponse) => void, failed: (error: Error) => void) {
    this.#signal = signal;
    this.#begun = begun;
    this.#failed = failed;
    signal.addEventListener('abort', this.#giveUp, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was given up while it waited for a connection.
    if (this.#error !== undefined) controller.abort(this.#error);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: PostResponse['headers']): void {
    if (status < 200) return;
    this.#begun({ status, headers, body: this, destroy: () => this.#end(new Error('no longer wanted')) });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#held += chunk.byteLength;
    if (this.#held > HELD_BYTES) controller.pause();
    this.#tell();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#finish(error);
  }

  next(): Promise<Chunk> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: this.#taken(chunk) });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    return new Promise<void>((resolve) => (this.#wake = resolve)).then(() => this.next());
  }

  return(): Promise<Chunk> {
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #taken(chunk: Uint8Array): Uint8Array {
    this.#held -= chunk.byteLength;
    if (this.#controller?.paused === true && this.#held === 0) this.#controller.resume();
    return chunk;
  }

  /** Closes the connection of an answer that is not complete; nothing for one that is. */
  #end(why: Error): void {
    if (this.#over) return;
    this.#chunks = [];
    this.#finish(why);
    this.#controller?.abort(why);
  }

  #finish(error: Error | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#signal.removeEventListener('abort', this.#giveUp);
    if (error !== undefined) this.#failed(error);
    this.#tell();
  }

  #tell(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('given up');
}
