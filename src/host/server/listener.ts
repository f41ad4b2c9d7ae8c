/**
 * The aggregate server `connector` on loopback. Every request is judged from the outside in: host and origin, path, bearer, room,
 * size, and then what it says. Nothing is kept between two requests. HTTP 401 means the agent's own bearer and nothing else.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  answerError,
  answerHttp,
  checkOrigin,
  checkRequest,
  legacyMethods,
  limits,
  localMethods,
  McpError,
  methods,
  parseId,
  rawMember,
  type Door,
  type HttpAnswer,
  type Implementation,
  type Notification,
} from '../../protocol/index.ts';
import type { Observable } from 'rxjs';
import { linked } from '../deadline.ts';
import type { Log } from '../log.ts';
import type { Aggregate } from './aggregate.ts';
import type { Binding, Bindings } from './bindings.ts';
import { dispatch, type DispatchOptions } from './dispatch.ts';
import { InFlight } from './inFlight.ts';
import { Listeners } from './listen.ts';
import { Reply } from './reply.ts';

export const mcpPath = '/mcp/connector';

export interface LocalServerOptions {
  readonly aggregate: Aggregate;
  readonly bindings: Bindings;
  /** Emits when agents are to be told that the tools changed. */
  readonly changes: Observable<void>;
  readonly version: string;
  /** 0: any. A port that is taken is left for another. */
  readonly port: number;
  readonly log: Log;
}

export interface LocalServer {
  readonly url: string;
  readonly port: number;
  /** Requests under way. */
  readonly busy: number;
  /** Takes no more, waits for what runs, and ends it when time is over. */
  close(drainMs?: number): Promise<void>;
}

const door: Door = { methods: localMethods, connector: false, legacyMethods };

export async function openLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const serverInfo: Implementation = { name: 'connector', version: options.version };
  const inFlight = new InFlight();
  const listeners = new Listeners(options.changes, serverInfo);
  const allowed = { hosts: new Set<string>(), origins: new Set<string>() };
  const context: Context = {
    options,
    allowed,
    inFlight,
    dispatch: { aggregate: options.aggregate, listeners, serverInfo },
  };
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: limits.gapMs,
      keepAliveTimeout: 5_000,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => void serve(context, request, response),
  );
  server.maxHeadersCount = limits.headers;
  server.maxConnections = 2_048;
  const port = await listen(server, options.port);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    allowed.hosts.add(host);
    // Its own origin serves no pages: only a client that sends one out of habit has it.
    allowed.origins.add(`http://${host}`);
  }
  return {
    url: `http://127.0.0.1:${port}${mcpPath}`,
    port,
    get busy() {
      return inFlight.size;
    },
    close: (drainMs = 5_000) => (listeners.closeAll(), close(server, inFlight, drainMs)),
  };
}

interface Context {
  readonly options: LocalServerOptions;
  readonly allowed: { readonly hosts: Set<string>; readonly origins: Set<string> };
  readonly inFlight: InFlight;
  readonly dispatch: DispatchOptions;
}

async function listen(server: Server, port: number): Promise<number> {
  const bind = (wanted: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', () => (server.off('error', reject), resolve()));
    });
  try {
    await bind(port);
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await bind(0);
  }
  return (server.address() as AddressInfo).port;
}

async function close(server: Server, inFlight: InFlight, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const endAt = performance.now() + drainMs;
  while (inFlight.size > 0 && performance.now() < endAt) await new Promise((resolve) => setTimeout(resolve, 20));
  server.closeAllConnections();
  await closed;
}

/** Answers one request. Never rejects. */
async function serve(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = new Reply(response);
  try {
    const answer = await judge(context, request, reply);
    if (answer !== undefined) reply.end(answer);
  } catch (error) {
    context.options.log('error', 'a request of an agent failed', {
      name: error instanceof Error ? error.name : 'unknown',
    });
    reply.end(answerHttp(500, 'an internal error'));
  }
}

async function judge(context: Context, request: IncomingMessage, reply: Reply): Promise<HttpAnswer | undefined> {
  const { bindings } = context.options;
  const { headers } = request;
  if (countOf(request, 'host') !== 1) return answerHttp(400, 'exactly one Host header is needed');
  const foreign = checkOrigin(headers, context.allowed);
  if (foreign !== undefined) return foreign;
  if (request.url?.split('?', 1)[0] !== mcpPath) return answerHttp(404, 'there is nothing here');
  const binding = countOf(request, 'authorization') === 1 ? bindings.of(headers.authorization) : undefined;
  if (binding === undefined)
    return answerHttp(401, 'the bearer of this agent is missing or unknown', { 'www-authenticate': 'Bearer' });
  const body = await readBody(request);
  if (body === undefined) return answerHttp(413, `the body is larger than ${limits.requestBytes} bytes`);
  const checked = checkRequest({ method: request.method ?? '', headers, body }, door);
  if (checked.kind === 'refused') return checked.answer;
  if (checked.kind === 'notification') return heard(context, binding, checked.notification, checked.answer);
  if (!context.inFlight.hasRoom(binding.id)) return answerError(checked.request.id, crowded(), checked.era);
  return context.inFlight.run(binding.id, checked.request.id, async (cancelled) => {
    const { signal, release } = linked(reply.gone, binding.revoked, cancelled);
    try {
      return await dispatch(context.dispatch, { checked, headers, binding, reply, signal });
    } finally {
      release();
    }
  });
}

function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

function crowded(): McpError {
  return new McpError(-33005, {
    message: `more than ${limits.agentConcurrency} requests at once`,
    retryAfterMs: 1_000,
  });
}

/** Cancellation in the era before: by the id of the request, which only means something to the agent that chose it. */
function heard({ inFlight }: Context, binding: Binding, notification: Notification, answer: HttpAnswer): HttpAnswer {
  if (notification.method === methods.cancelled) {
    const id = parseId(rawMember(notification.paramsText ?? '{}', 'requestId'));
    if (id !== undefined) inFlight.cancel(binding.id, id);
  }
  return answer;
}

/** Undefined when it is larger than it may be; the rest is then not read. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limits.requestBytes) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not close the connection: the answer goes out on it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limits.requestBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
