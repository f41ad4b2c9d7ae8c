/** A control plane on loopback whose answers a test writes. Real HTTP, real WebSockets, nothing of ours inside. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';

export interface ControlServer {
  readonly url: string;
  readonly hintsUrl: string;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly cookie: string;
    readonly body: string;
  }[];
  /** Open sockets, oldest first. */
  readonly sockets: WebSocket[];
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  onSocket: (socket: WebSocket) => void;
  close(): Promise<void>;
}

export async function controlServer(): Promise<ControlServer> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      self.requests.push({ method, url, cookie: headers.cookie ?? '', body });
      self.answer(request, response, body);
    });
  });
  const hints = new WebSocketServer({ server });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const self: ControlServer = {
    url: `http://127.0.0.1:${port}/api/desktop`,
    hintsUrl: `ws://127.0.0.1:${port}/`,
    requests: [],
    sockets: [],
    answer: (_, response) => response.writeHead(404).end(),
    onSocket: () => undefined,
    close: async () => {
      hints.clients.forEach((client) => client.terminate());
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  hints.on('connection', (socket) => {
    self.sockets.push(socket);
    self.onSocket(socket);
  });
  return self;
}

/** Answers every request with this JSON. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) {
  return (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };
}

/** A folder of its own for a test. */
export function folder(): string {
  return mkdtempSync(join(tmpdir(), 'dacapo-host-'));
}

/** Writes the login of an account as the desktop does. */
export function login(path: string, account: string, cookie = `sid=${account}`): void {
  writeFileSync(path, JSON.stringify({ session_id: `s-${account}`, cookie, user_id: account }), { mode: 0o600 });
}
