/**
 * The `post` port of protocol over undici, for one target: its pool, its credential, its address and nothing else's.
 *
 * The credential is added here, at the socket, so that no request that is composed or logged elsewhere ever holds it.
 */
import type { Post } from '../../protocol/post.ts';
import { postStreamed } from '../../protocol/streamedPost.ts';
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

/** An upstream's stream that ends by itself a moment after its last event keeps its connection: a handshake less for the next call. */
const LINGER_MS = 250;

/** `rest` is asked between two chunks of an answer: whoever passes them on may be slower than the upstream. */
export function openWire(agents: Agents, target: Target, rest: () => Promise<void> | undefined): Wire {
  const dispatcher = agents.of(target.reach, target.bounds.connectMs);
  const { origin, path, headers: injected } = target;
  let endpointRefused: EndpointRefused | undefined;
  return {
    get endpointRefused() {
      return endpointRefused;
    },
    post: ({ headers, body, stop }) => {
      const request = { origin, path, headers: { ...headers, ...injected }, body, ...ownDeadlines };
      const reading = { stop, maxBytes: target.bounds.streamBytes, lingerMs: LINGER_MS, rest };
      return postStreamed(dispatcher, request, reading).catch((error: unknown) => {
        if (error instanceof EndpointRefused) endpointRefused = error;
        throw error;
      });
    },
    remove: async (given) => {
      const headers = { ...given, ...injected };
      const signal = AbortSignal.timeout(REMOVE_MS);
      try {
        const reply = await dispatcher.request({ origin, path, method: 'DELETE', headers, signal, ...ownDeadlines });
        await reply.body.dump();
      } catch {
        // The server forgets the session by itself, or is away.
      }
    },
  };
}

/** The deadlines of protocol hold; undici's own are coarse and would answer first, with another error. */
const ownDeadlines = { headersTimeout: 0, bodyTimeout: 0 } as const;
