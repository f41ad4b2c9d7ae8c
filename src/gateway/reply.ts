/**
 * The answer to one request: JSON when there is nothing to say before the result, an event stream from the first notification on,
 * or when the result keeps the caller waiting.
 *
 * A caller gives up on a silent answer after some seconds, so a stream is begun before that and kept alive. Once begun, its HTTP
 * status is 200; an error is then the JSON-RPC error alone.
 */
import type { ServerResponse } from 'node:http';

import { formatRetryAfter } from '../protocol/errors.ts';
import { encodeEvent, keepAliveEvent, sseHeaders } from '../protocol/sse.ts';

export interface Final {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  /** Sends a notification; waits while the caller reads slowly. */
  event(text: string): Promise<void>;
  /** Sends the answer. Nothing follows it. */
  end(final: Final): void;
}

/** A stream begins after this long without a result, well before a client's first-byte limit. */
const PATIENCE_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;

const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'private, no-store' } as const;

/** `mayStream`: the caller takes event streams, and this is a request whose answer may need one. */
export function openReply(response: ServerResponse, mayStream: boolean): Reply {
  let timer = mayStream ? setTimeout(begin, PATIENCE_MS) : undefined;
  response.on('close', () => clearTimeout(timer));

  function begin(): void {
    clearTimeout(timer);
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { ...sseHeaders });
    response.write(keepAliveEvent);
    timer = setInterval(() => response.writableNeedDrain || response.write(keepAliveEvent), KEEP_ALIVE_MS);
  }
  return {
    async event(text) {
      if (!mayStream || response.destroyed) return;
      begin();
      if (!response.write(encodeEvent(text))) await drained(response);
    },
    end(final) {
      clearTimeout(timer);
      if (response.destroyed) return;
      if (response.headersSent) return void response.end(encodeEvent(final.text));
      const retry = final.retryAfterMs === undefined ? {} : { 'retry-after': formatRetryAfter(final.retryAfterMs) };
      const length = { 'content-length': String(Buffer.byteLength(final.text)) };
      response.writeHead(final.status, { ...jsonHeaders, ...length, ...retry, ...final.headers }).end(final.text);
    },
  };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
