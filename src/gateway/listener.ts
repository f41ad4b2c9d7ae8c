/**
 * The HTTP side of the door: sockets, header limits, who may connect from where. It knows paths, and nothing of MCP.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { limits } from '../protocol/limits.ts';
import type { GatewayLimits } from './bounds.ts';

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
      const refusal = refuse(request, hostsOf(options, host, server), options.origins ?? []);
      if (refusal !== undefined) return end(response, refusal);
      handle(request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = bounds.connections;
  server.maxHeadersCount = limits.headers + 1;
  server.on('clientError', answerGarbage);
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  return { url: urlOf(server, host), close: (withinMs) => close(server, withinMs) };
}

/** HTTP status for a request that is not looked at further, or `undefined`. */
function refuse(
  request: IncomingMessage,
  hosts: readonly string[] | undefined,
  origins: readonly string[],
): number | undefined {
  if (request.rawHeaders.length > limits.headers * 2) return 431;
  if (count(request, 'host') > 1 || count(request, 'origin') > 1) return 400;
  const { host = '', origin } = request.headers;
  if (hosts !== undefined && !hosts.includes(host)) return 403;
  if (origin === undefined || origins.includes(origin)) return undefined;
  return hosts?.some((allowed) => origin === `http://${allowed}`) === true ? undefined : 403;
}

function count(request: IncomingMessage, name: string): number {
  return request.rawHeaders.filter((field, index) => index % 2 === 0 && field.toLowerCase() === name).length;
}

function hostsOf(options: ListenOptions, host: string, server: Server): readonly string[] | undefined {
  if (options.hosts !== undefined) return options.hosts;
  if (host !== '127.0.0.1' && host !== '::1' && host !== 'localhost') return undefined;
  const { port } = server.address() as AddressInfo;
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

/** The connection ends with it: what follows on the same socket would be read from an unknown place. */
function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close', 'content-length': '0' }).end();
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
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(cut);
}
