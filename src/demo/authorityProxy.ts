/**
 * The proxy that `dacapo up` puts before the authority, so that a demo can lose what a network loses.
 *
 * It forwards HTTP and WebSocket unchanged. `snapshot: false` answers a snapshot read 503; `hints: false` refuses WebSockets and
 * cuts those that are open. Nothing in the product knows of it.
 */
import { createServer, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

import type { DemoServer } from './businessServer.ts';
import { openControl } from './control.ts';
import { closeServer, listenOn } from './listen.ts';
import { openSettings, SettingsRefused } from './settings.ts';

/** What still flows. `hints: 'silent'` keeps a WebSocket open and swallows what the server says: a half-open connection. */
export interface ProxySettings extends Readonly<Record<string, unknown>> {
  readonly snapshot: boolean;
  readonly hints: boolean | 'silent';
}

export interface AuthorityProxyOptions {
  readonly directory: string;
  /** Base URL of the authority's control plane, http on loopback. */
  readonly target: string;
  readonly port?: number;
}

const SNAPSHOT_PATH = '/v1/connector-authorizations/snapshot';

/** Starts the proxy on 127.0.0.1. `url` is the base that a daemon is given instead of the authority's. */
export async function runAuthorityProxy(options: AuthorityProxyOptions): Promise<DemoServer> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const sockets = new Set<Duplex>();
  const settings = openSettings(
    join(options.directory, 'proxy.settings.json'),
    { snapshot: true, hints: true },
    readSettings,
    () => sockets.forEach((socket) => socket.destroy()),
  );
  const target = new URL(options.target);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000 }, (incoming, response) => {
    if (!settings.current.snapshot && isSnapshot(incoming)) return unavailable(response);
    forward(target, incoming, response);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (settings.current.hints === false) return void socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
    tunnel(target, incoming, socket, head, { sockets, silent: () => settings.current.hints === 'silent' });
  });
  const url = await listenOn(server, options.port ?? 0);
  const control = await openControl(options.directory, 'proxy', settings);
  return {
    url,
    close: async () => {
      sockets.forEach((socket) => socket.destroy());
      await Promise.all([control.close(), closeServer(server)]);
    },
  };
}

function forward(target: URL, incoming: IncomingMessage, response: ServerResponse): void {
  const outgoing = onward(target, incoming);
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', () => (response.headersSent ? response.destroy() : unavailable(response)));
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function tunnel(
  target: URL,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  open: { readonly sockets: Set<Duplex>; readonly silent: () => boolean },
): void {
  const outgoing = onward(target, incoming);
  const end = (): void => void (socket.destroy(), outgoing.destroy());
  socket.on('error', end).on('close', end);
  outgoing.on('error', end);
  outgoing.on('response', (answer) => {
    socket.end(statusLine(answer));
    answer.destroy();
  });
  outgoing.on('upgrade', (answer, upstream, first) => {
    open.sockets.add(socket);
    socket.on('close', () => (open.sockets.delete(socket), upstream.destroy()));
    upstream.on('error', end).on('close', end);
    socket.write(statusLine(answer));
    if (first.length > 0) socket.write(first);
    upstream.write(head);
    socket.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => open.silent() || socket.write(chunk));
  });
  outgoing.end();
}

/** The same request to the target. Host becomes the target's own, because the authority checks it. */
function onward(target: URL, incoming: IncomingMessage): ClientRequest {
  const headers = pairs(incoming.rawHeaders).flatMap(([name, value]) =>
    name.toLowerCase() === 'host' ? [name, target.host] : [name, value],
  );
  return httpRequest({
    host: target.hostname,
    port: target.port,
    method: incoming.method ?? 'GET',
    path: `${target.pathname.replace(/\/$/, '')}${incoming.url ?? '/'}`,
    headers,
    agent: false,
  });
}

function statusLine(answer: IncomingMessage): string {
  const headers = pairs(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${headers.join('')}\r\n`;
}

function pairs(raw: readonly string[]): (readonly [string, string])[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
}

function isSnapshot(incoming: IncomingMessage): boolean {
  return (incoming.url ?? '').split('?', 1)[0]?.endsWith(SNAPSHOT_PATH) ?? false;
}

function unavailable(response: ServerResponse): void {
  response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"unavailable"}');
}

function readSettings(value: unknown): ProxySettings | SettingsRefused {
  const { snapshot, hints } = (value ?? {}) as Partial<ProxySettings>;
  const legal = typeof snapshot === 'boolean' && (typeof hints === 'boolean' || hints === 'silent');
  return legal
    ? { snapshot, hints }
    : new SettingsRefused('snapshot is true or false; hints is true, false or "silent"');
}
