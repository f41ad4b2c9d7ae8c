/**
 * The HTTP side of the door: sockets, header limits, who may connect from where. It knows paths, and nothing of MCP.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { answerHttp } from '../protocol/answer.ts';
import type { HttpAnswer } from '../protocol/answer.ts';
import { checkOrigin } from '../protocol/transport.ts';
import type { Allowed } from '../protocol/transport.ts';
import { limits } from '../protocol/limits.ts';
import type { GatewayLimits } from './bounds.ts';
import { writeAnswer } from './reply.ts';

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: a free one. */
  readonly port?: number;
  /**
   * `Host` values answered, exactly. Default: the loopback names of the port when listening on loopback, else every one (a proxy
   * in front decides). A browser is deceived into sending another name here by DNS rebinding. Threat C1.
   */
  readonly hosts?: readonly string[];
  /** `Origin` values answered besides `http://` and an allowed host; a request without one is no browser's. Threat C2. */
  readonly origins?: readonly string[];
}

/** Answers one request. It must end the response; what it throws ends the connection. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface Listener {
  readonly url: string;
  /** Stops taking connections, waits at most `withinMs` for requests under way, and cuts what is left. */
  close(withinMs: number): Promise<void>;
}

/** Opens the listener. Throws what `listen` throws: the port is taken, the address is not ours. */
export async function openListener(options: ListenOptions, bounds: GatewayLimits, handle: Handle): Promise<Listener> {
  const host = options.host ?? '127.0.0.1';
  let allowed = (): Allowed | undefined => ({ hosts: new Set(), origins: new Set() });
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: bounds.headersMs,
      requestTimeout: bounds.requestMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 30_000,
      insecureHTTPParser: false,
      requireHostHeader: true,
    },
    (request, response) => {
      const refusal = refuse(request, allowed());
      if (refusal !== undefined) return writeAnswer(response, refusal, { connection: 'close' });
      handle(request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = bounds.connections;
  server.maxHeadersCount = limits.headers + 1;
  server.on('clientError', answerGarbage);
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const who = allowedBy(options, host, (server.address() as AddressInfo).port);
  allowed = () => who;
  return { url: urlOf(server, host), close: (withinMs) => close(server, withinMs) };
}

/** Of these node hands on the first and drops the others, where a proxy before us may have looked at another one. */
const alone: ReadonlySet<string> = new Set(['host', 'origin', 'authorization', 'content-type']);

/** The answer to a request that is not looked at further, or `undefined`. */
function refuse(request: IncomingMessage, allowed: Allowed | undefined): HttpAnswer | undefined {
  if (request.rawHeaders.length > limits.headers * 2) return answerHttp(431, `more than ${limits.headers} headers`);
  if (repeats(request)) return answerHttp(400, 'a header is repeated');
  return allowed === undefined ? undefined : checkOrigin(request.headers, allowed);
}

function repeats({ rawHeaders }: IncomingMessage): boolean {
  const seen = new Set<string>();
  return rawHeaders.some((field, index) => {
    const name = index % 2 === 0 ? field.toLowerCase() : '';
    return alone.has(name) && seen.size === seen.add(name).size;
  });
}

/** Undefined: every host, because a proxy in front decides. A page of an allowed host may ask too. */
function allowedBy(options: ListenOptions, host: string, port: number): Allowed | undefined {
  const hosts = options.hosts ?? loopbackHosts(host, port);
  if (hosts === undefined) return undefined;
  return {
    hosts: new Set(hosts),
    origins: new Set([...(options.origins ?? []), ...hosts.map((name) => `http://${name}`)]),
  };
}

function loopbackHosts(host: string, port: number): readonly string[] | undefined {
  if (host !== '127.0.0.1' && host !== '::1' && host !== 'localhost') return undefined;
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

function answerGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function close(server: Server, withinMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A connection whose request has just ended is idle, and would be kept for a next one that is not taken.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
