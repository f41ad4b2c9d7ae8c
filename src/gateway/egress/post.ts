/**
 * The `post` port of protocol over undici, for one target: its pool, its credential, its address and nothing else's.
 *
 * The credential is added here, at the socket, so that no request that is composed or logged elsewhere ever holds it.
 */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

import type { Post, PostResponse } from '../../protocol/post.ts';
import type { Target } from '../upstream/target.ts';
import { EndpointRefused } from './address.ts';
import type { Agents } from './agents.ts';

/** What belongs to one call, beside its target. */
export interface Wire {
  readonly post: Post;
  /** Ends a session of the older era. Never throws, never waits for more than a moment. */
  remove(headers: Readonly<Record<string, string>>): Promise<void>;
  /** Why no packet was sent, when an address was refused. */
  readonly endpointRefused: EndpointRefused | undefined;
}

const REMOVE_MS = 2_000;

/** `rest` is awaited between two chunks of an answer: whoever passes them on may be slower than the upstream. */
export function openWire(agents: Agents, target: Target, rest: () => Promise<void>): Wire {
  const dispatcher = agents.of(target.reach, target.bounds.connectMs);
  let endpointRefused: EndpointRefused | undefined;
  const ask = (
    method: 'POST' | 'DELETE',
    given: Readonly<Record<string, string>>,
    body: string | null,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> =>
    dispatcher.request({
      origin: target.url.origin,
      path: target.url.pathname + target.url.search,
      method,
      headers: { ...given, ...target.headers },
      body,
      signal,
      // The deadlines of protocol hold; undici's own are coarse and would answer first, with another error.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  return {
    get endpointRefused() {
      return endpointRefused;
    },
    post: async ({ headers, body, signal }) => {
      try {
        return answered(await ask('POST', headers, body, signal), target.bounds.streamBytes, rest);
      } catch (error) {
        if (error instanceof EndpointRefused) endpointRefused = error;
        throw error;
      }
    },
    remove: async (headers) => {
      try {
        const reply = await ask('DELETE', headers, null, AbortSignal.timeout(REMOVE_MS));
        await reply.body.dump();
      } catch {
        // The server forgets the session by itself, or is away.
      }
    },
  };
}

function answered(reply: Dispatcher.ResponseData, maxBytes: number, rest: () => Promise<void>): PostResponse {
  const destroy = (): void => letEnd(reply.body);
  return { status: reply.statusCode, headers: reply.headers, body: counted(reply.body, maxBytes, rest), destroy };
}

async function* counted(body: Readable, maxBytes: number, rest: () => Promise<void>): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new RangeError('the answer is larger than its limit');
    yield chunk;
    await rest();
  }
}

const LINGER_MS = 250;
const LINGER_BYTES = 65_536;

/**
 * Ends an answer that is not wanted any more. A stream that ends by itself a moment after its last event keeps its connection for
 * the next request; cutting it at once would cost a handshake for every call.
 */
function letEnd(body: Readable): void {
  if (body.readableEnded || body.destroyed) return;
  let left = LINGER_BYTES;
  const cut = (): void => void body.destroy();
  const timer = setTimeout(cut, LINGER_MS);
  body.on('error', () => {}).on('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    left -= chunk.byteLength;
    if (left < 0) cut();
  });
  body.resume();
}
