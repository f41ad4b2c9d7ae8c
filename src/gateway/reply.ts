/**
 * The answer to one request on its socket: JSON when there is nothing to say before the result, an event stream from the first
 * notification on, or when the result keeps the caller waiting.
 *
 * A caller gives up on a silent answer after some seconds, so a stream is begun before that and kept alive. Once begun, its HTTP
 * status is 200; an error is then the JSON-RPC error alone.
 */
import type { ServerResponse } from 'node:http';

import type { HttpAnswer } from '../protocol/answer.ts';
import { encodeEvent, keepAliveEvent, sseHeaders } from '../protocol/sse.ts';

export interface Reply {
  /** Sends a notification. */
  event(text: string): void;
  /** Resolves when the caller has taken what was sent, or is gone; undefined when it has. */
  rest(): Promise<void> | undefined;
  /** Sends the answer. Nothing follows it. */
  end(answer: HttpAnswer): void;
}

const KEEP_ALIVE_MS = 10_000;

/** `patienceMs`: when a stream begins without anything to say; null where the caller takes none, or the answer never needs one. */
export function openReply(response: ServerResponse, patienceMs: number | null): Reply {
  let timer = patienceMs === null ? undefined : setTimeout(wait, patienceMs);
  response.on('close', () => clearTimeout(timer));

  function begin(): void {
    if (response.headersSent || response.destroyed) return;
    clearTimeout(timer);
    response.writeHead(200, { ...sseHeaders });
    timer = setInterval(() => response.writableNeedDrain || response.write(keepAliveEvent), KEEP_ALIVE_MS);
  }
  function wait(): void {
    begin();
    if (!response.destroyed) response.write(keepAliveEvent);
  }
  return {
    event(text) {
      if (patienceMs === null || response.destroyed) return;
      begin();
      response.write(encodeEvent(text));
    },
    rest: () => (response.writableNeedDrain && !response.destroyed ? drained(response) : undefined),
    end(answer) {
      clearTimeout(timer);
      if (response.destroyed) return;
      if (response.headersSent) response.end(encodeEvent(answer.body));
      else writeAnswer(response, answer);
    },
  };
}

/** Writes a whole answer. */
export function writeAnswer(
  response: ServerResponse,
  { status, headers, body }: HttpAnswer,
  more: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...headers, ...more, 'content-length': String(Buffer.byteLength(body)) }).end(body);
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
