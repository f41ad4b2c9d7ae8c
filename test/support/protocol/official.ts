/** The official server 2.4.0 on loopback: its low-level Server behind its own handler, behind node:http without any adapter. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, ProtocolError, Server, type Tool } from '@modelcontextprotocol/server';
import { Agent } from 'undici';
import { createModernClient, type ModernClient } from '../../../src/protocol/index.ts';
import { postOver } from './peer.ts';

export interface Official extends AsyncDisposable {
  readonly client: ModernClient;
  readonly aborted: Promise<void>;
}

/** What it serves: two pages, the second under an empty cursor, and tools that echo, report, wait and fail. */
export const definitions: Tool[] = [
  {
    name: 'echo',
    title: 'Echo',
    inputSchema: {
      type: 'object',
      required: ['z'],
      properties: { z: { type: 'string', 'x-mcp-header': 'Zed' }, a: { type: 'number' } },
    },
    annotations: { readOnlyHint: true, ...{ vendor: { deep: [1] } } },
    _meta: { 'com.example/x': 1 },
  },
  { name: 'report', inputSchema: { type: 'object' } },
  { name: 'wait', inputSchema: { type: 'object' } },
  { name: 'fail', inputSchema: { type: 'object' } },
];

export async function openOfficial(): Promise<Official> {
  let gone: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (gone = resolve));
  const handler = createMcpHandler(() => build(() => gone()), { legacy: 'reject' });
  const server = createServer((incoming, outgoing) => void serve(handler.fetch, incoming, outgoing));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  const client = createModernClient({
    post: postOver(agent),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    clientInfo: { name: 'dacapo', version: '0.1.0' },
    connectorVersion: null,
    now: Date.now,
  });
  const dispose = async (): Promise<void> => {
    await agent.destroy();
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return { client, aborted, [Symbol.asyncDispose]: dispose };
}

function build(gone: () => void): Server {
  const server = new Server({ name: 'official', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', ({ params }) =>
    params?.cursor === undefined ? { tools: definitions.slice(0, 1), nextCursor: '' } : { tools: definitions.slice(1) },
  );
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'fail') throw new ProtocolError(-33002, 'expired', { connector: 'docs' });
    const progressToken = mcpReq._meta?.progressToken;
    if (params.name === 'report' && progressToken !== undefined)
      for (const progress of [1, 2])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
    if (params.name === 'wait')
      await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => (gone(), resolve())));
    return { content: [{ type: 'text', text: JSON.stringify(params.arguments ?? null) }] };
  });
  return server;
}

type Fetch = (request: Request) => Promise<Response>;

async function serve(fetch: Fetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const headers = new Headers(incoming.headers as Record<string, string>);
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers,
    body: Buffer.concat(chunks),
    signal: gone.signal,
  });
  const response = await fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  try {
    for await (const chunk of response.body ?? []) outgoing.write(chunk);
  } finally {
    outgoing.end();
  }
}
