/** A real HTTP server on loopback that answers as a test says, and remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Socket } from 'node:net';
import { Agent, request } from 'undici';
import type { Post } from '../../../src/protocol/index.ts';

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Message;
  /** Settles when the client has closed the response before it was finished. */
  readonly closedEarly: Promise<void>;
}

export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>>; readonly [name: string]: unknown };
}

export interface Peer {
  readonly url: string;
  readonly requests: readonly Recorded[];
  readonly post: Post;
  readonly connections: number;
  close(): Promise<void>;
}

export type Handler = (request: Recorded, response: ServerResponse, index: number) => unknown;

export async function openPeer(handler: Handler): Promise<Peer> {
  const requests: Recorded[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
    incoming.on('end', () => {
      const closedEarly = new Promise<void>(
        (resolve) => void response.on('close', () => response.writableFinished || resolve()),
      );
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Message;
      const recorded = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body,
        closedEarly,
      };
      requests.push(recorded);
      handler(recorded, response, requests.length - 1);
    });
  });
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => void sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/connectors/docs/mcp`,
    requests,
    post: postOver(agent),
    get connections() {
      return connections;
    },
    async close() {
      await agent.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** The port that product code gives the client, in its smallest honest form: undici's request, which follows nothing. */
export function postOver(dispatcher: Agent): Post {
  return async ({ url, headers, body, stop }) => {
    const given = new AbortController();
    const release = stop.listen((reason) => given.abort(reason));
    const answer = await request(url, {
      method: 'POST',
      headers,
      body,
      signal: given.signal,
      dispatcher,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    answer.body.on('error', () => undefined).on('close', release);
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body,
      destroy: () => void answer.body.destroy(),
    };
  };
}

/** Answers JSON with a status and headers. */
export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Starts an event stream. */
export function stream(response: ServerResponse, status = 200): ServerResponse {
  response.writeHead(status, { 'content-type': 'text/event-stream' });
  return response;
}

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const result = (id: unknown, members: object): object => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', ...members },
});
export const error = (id: unknown, code: number, data?: unknown): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: `code ${code}`, data },
});
export const tool = (name: string, properties: object = {}): object => ({
  name,
  inputSchema: { type: 'object', properties },
});
export const text = (words: string): object => ({ content: [{ type: 'text', text: words }] });
