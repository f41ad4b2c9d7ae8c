/**
 * A gateway on loopback that is the official SDK's own modern server behind a cookie, so that our client is held against something
 * that nobody here wrote. What it refuses before the handler is a test's to say.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

export interface GatewayRequest {
  readonly path: string;
  readonly method: string;
  readonly cookie: string;
  readonly headers: IncomingMessage['headers'];
}

export interface Gateway {
  readonly url: string;
  readonly requests: GatewayRequest[];
  /** Answers instead of the server where it returns something. */
  refuse: (
    request: GatewayRequest,
  ) =>
    | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
    | undefined;
  /** Names of its tools. `hang` is never answered. */
  tools: readonly string[];
  /** Requests whose connection was closed before they were answered. */
  readonly abandoned: string[];
  close(): Promise<void>;
}

export async function gateway(): Promise<Gateway> {
  const handler = createMcpHandler(() => mcpServer(() => self.tools) as never, { legacy: 'reject' });
  const server = createServer((request, response) => void serve(self, (web) => handler.fetch(web), request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const self: Gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/desktop`,
    requests: [],
    abandoned: [],
    refuse: () => undefined,
    tools: ['search', 'hang'],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

function mcpServer(tools: () => readonly string[]): Server {
  const server = new Server({ name: 'upstream', version: '1' }, { capabilities: { tools: {} } });
  const definition = (name: string) => ({
    name,
    title: name,
    inputSchema: { type: 'object' as const, properties: {} },
  });
  server.setRequestHandler('tools/list', () => ({ tools: tools().map(definition) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    if (params.name === 'hang') await new Promise(() => undefined);
    return { content: [{ type: 'text' as const, text: `${params.name} ${JSON.stringify(params.arguments ?? {})}` }] };
  });
  return server;
}

async function serve(
  self: Gateway,
  answer: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const { headers, url = '/' } = incoming;
  const method = String(headers['mcp-method']);
  const request = { path: url, method, cookie: headers.cookie ?? '', headers };
  self.requests.push(request);
  outgoing.once('close', () => outgoing.writableFinished || self.abandoned.push(method));
  const refusal = self.refuse(request);
  if (refusal !== undefined) {
    outgoing.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
    return void outgoing.end(JSON.stringify(refusal.body));
  }
  const web = new Request(`http://127.0.0.1${url}`, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: Buffer.concat(chunks),
  });
  const reply = await answer(web);
  outgoing.writeHead(reply.status, Object.fromEntries(reply.headers));
  outgoing.end(Buffer.from(await reply.arrayBuffer()));
}

/** A refusal of the authorization as the gateway answers it. */
export function rejection(code: number, status = 428) {
  return { status, body: { jsonrpc: '2.0', id: null, error: { code, message: 'authorize' } } };
}
