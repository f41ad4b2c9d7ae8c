/**
 * The answer to one request, while it is made: a JSON body, or a stream of events as soon as something is to be told before the
 * result. A stream is begun by the first notification, so what needs none is answered plainly. The order on the wire is the order
 * of the calls; the last progress before a result is therefore never lost.
 */
import type { ServerResponse } from 'node:http';
import { encodeEvent, keepAliveEvent, sseHeaders, type HttpAnswer } from '../../protocol/index.ts';

const KEEP_ALIVE_MS = 15_000;
/** What a reader that does not read may make us hold; beyond it progress is dropped, a result never. */
const HELD_BYTES = 1_048_576;

export class Reply {
  /** Aborted when the other side closed the answer before it was complete: that is how HTTP says "cancel". */
  readonly gone: AbortSignal;
  readonly #response: ServerResponse;
  #alive: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse) {
    const left = new AbortController();
    this.gone = left.signal;
    this.#response = response;
    response.on('error', () => undefined);
    response.once('close', () => {
      clearInterval(this.#alive);
      if (!response.writableFinished) left.abort(new Error('the client closed the answer'));
    });
  }

  /** Tells something before the result. */
  notify(messageText: string): void {
    if (this.#ended) return;
    this.stream();
    if (this.#response.writableLength < HELD_BYTES) this.#response.write(encodeEvent(messageText));
  }

  /** Begins a stream of events, if it has not begun. */
  stream(): void {
    if (this.#response.headersSent || this.#ended) return;
    this.#response.writeHead(200, sseHeaders);
    this.#alive = setInterval(() => this.#response.write(keepAliveEvent), KEEP_ALIVE_MS);
  }

  /** Completes the answer. On a stream only the body counts: its status has been sent. */
  end({ status, headers, body }: HttpAnswer): void {
    clearInterval(this.#alive);
    if (this.#ended) return;
    if (this.#response.headersSent) return void this.#response.end(encodeEvent(body));
    this.#response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }

  get #ended(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }
}
