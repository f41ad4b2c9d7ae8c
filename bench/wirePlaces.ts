/** What is called, each opened in a process of its own: the upstream, the floor, the gateway, the official parts, the local server. */
import { Agent, createServer, request as ask, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { getRequestListener } from '@hono/node-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { Pool } from 'undici';
import { filter, firstValueFrom } from 'rxjs';
import { serveAuthority } from '../src/authority/rpcServer.ts';
import { openAuthorityClient, openGateway } from '../src/gateway/index.ts';
import { callControl, openDaemon } from '../src/host/index.ts';
import { sessionCookie } from '../src/protocol/accountToken.ts';
import type { AuthorityPort, Principal, Upstream } from '../src/protocol/authority.ts';

/** Where a call goes, and with what. */
export interface Address {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tool: string;
}

export interface PlaceOptions {
  readonly folder: string;
  readonly upstream?: string;
  readonly gateway?: string;
  /** Address of an authority; none: in the process. */
  readonly authority?: string;
}

const TOKEN = 'a-session-of-the-bench-0001';
const session = { authorization: `Bearer ${TOKEN}`, 'tutti-connector-version': '1.0.0' };
const plain = (url: string): Address => ({ url, headers: {}, tool: 'echo' });

export function open(role: string, options: PlaceOptions): Promise<Address> {
  const places: Readonly<Record<string, (options: PlaceOptions) => Promise<Address>>> = {
    ...{ upstream, floor, nodeFloor, authority, gateway, sdkGateway, local },
  };
  const place = places[role];
  if (place === undefined) throw new Error(`no part of the bench is called ${role}`);
  return place(options);
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function bodyOf(request: IncomingMessage, take: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('end', () => take(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
}

const tools = [{ name: 'echo', description: 'says it', inputSchema: { type: 'object' as const, properties: {} } }];
const said = { content: [{ type: 'text' as const, text: 'x'.repeat(1_024) }] };
const results: Readonly<Record<string, object>> = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  },
  'tools/list': { tools, ttlMs: 0, cacheScope: 'private' },
  'tools/call': said,
};

async function upstream(): Promise<Address> {
  const url = await listen((request, response) =>
    bodyOf(request, (body) => {
      const { id, method } = JSON.parse(body.toString('utf8')) as { id: unknown; method: string };
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method] } });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    }),
  );
  return plain(`${url}/mcp`);
}

/** The least that can stand between: a request read and sent on, an answer read and sent back. */
async function floor(options: PlaceOptions): Promise<Address> {
  const { origin, pathname: path } = new URL(options.upstream ?? '');
  const pool = new Pool(origin, { connections: 64 });
  const pass: RequestListener = (request, response) =>
    bodyOf(request, (body) => {
      const { host: _, connection: __, ...headers } = request.headers;
      void pool.request({ path, method: 'POST', headers, body }).then(async (reply) => {
        const answer = Buffer.from(await reply.body.arrayBuffer());
        response.writeHead(reply.statusCode, { 'content-type': 'application/json', 'content-length': answer.length });
        response.end(answer);
      });
    });
  return plain(`${await listen(pass)}/mcp`);
}

/** The same with nothing but node:http. */
async function nodeFloor(options: PlaceOptions): Promise<Address> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const pass: RequestListener = (request, response) =>
    bodyOf(request, (body) => {
      const { host: _, connection: __, ...headers } = request.headers;
      const sent = ask(options.upstream ?? '', { agent, method: 'POST', headers }, (reply) =>
        bodyOf(reply, (answer) => {
          const answered = { 'content-type': 'application/json', 'content-length': answer.length };
          response.writeHead(reply.statusCode ?? 502, answered).end(answer);
        }),
      );
      sent.end(body);
    });
  return plain(`${await listen(pass)}/mcp`);
}

const principal: Principal = {
  ...{ tenantId: 1n, principalId: 1n, principalType: 'USER', principalName: 'ann' },
  ...{ displayName: 'Ann', clientId: 'bench' },
};

/** Lets one session call one connector: what is measured is the way to an authority, not its store. */
function port(endpoint: string): AuthorityPort {
  const upstreamOf: Upstream = {
    ...{ endpoint, mode: 'modern', allowedHosts: [new URL(endpoint).host], privateNetwork: true, limits: {} },
    injection: { kind: 'header', name: 'authorization', prefix: 'Bearer ' },
    ...{ credential: 'a-provider-key-0001', contractScope: 'ann/demo/1' },
  };
  const base = { principal, upstream: upstreamOf } as const;
  let calls = 0;
  return {
    listTools: ({ probe }) =>
      Promise.resolve({ outcome: 'authorized', tools: [], ...base, callId: probe ? null : `l${++calls}`, ...(probe ? { upstream: null } : {}) }),
    callTool: () => Promise.resolve({ outcome: 'authorized', callId: `c${++calls}`, risk: 'LOW', tool: null, ...base }),
    audit: () => Promise.resolve(true),
  };
} // prettier-ignore

async function authority(options: PlaceOptions): Promise<Address> {
  const address = `unix:${join(options.folder, 'authority.sock')}`;
  await serveAuthority(port(options.upstream ?? ''), { address, log: () => undefined });
  return plain(address);
}

async function gateway(options: PlaceOptions): Promise<Address> {
  const asked =
    options.authority === undefined
      ? port(options.upstream ?? '')
      : openAuthorityClient({ address: options.authority });
  const limits = { ratePerSecond: 1e9, rateBurst: 1e9, perAccount: 1_000 };
  const { url } = await openGateway({ authority: asked, limits });
  return { url: `${url}/v1/connectors/demo/mcp`, headers: session, tool: 'echo' };
}

/** The official handler where the gateway stands, with the official client behind it. */
async function sdkGateway(options: PlaceOptions): Promise<Address> {
  const client = new Client({ name: 'hop', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(options.upstream ?? '')));
  const build = (): Server => {
    const server = new Server({ name: 'hop', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => client.listTools());
    server.setRequestHandler('tools/call', ({ params }) => client.callTool({ name: params.name, arguments: params.arguments ?? {} }));
    return server;
  };
  const handler = createMcpHandler(() => build() as never, { legacy: 'reject' });
  const serve = getRequestListener((request) => handler.fetch(request));
  return plain(`${await listen((request, response) => void serve(request, response))}/mcp`);
} // prettier-ignore

/** A daemon whose one connector is the gateway's; its control plane says that it is connected. */
async function local(options: PlaceOptions): Promise<Address> {
  const line = { connectorId: 'demo', connectorVersion: '1.0.0', state: 'connected', connectionId: 'c', connectionVersion: 1 };
  const control = await listen((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ revision: 1, connectors: [line] }));
  });
  const sessionFile = join(options.folder, 'session.json');
  writeFileSync(sessionFile, JSON.stringify({ session_id: 's', cookie: `${sessionCookie}=${TOKEN}`, user_id: 'ann' }));
  const daemon = await openDaemon({
    ...{ stateDir: join(options.folder, 'state'), hostVersion: '1.0.0', sessionFile },
    ...{ controlUrl: control, mcpUrl: new URL(options.gateway ?? '').origin },
    connectors: [{ id: 'demo', kind: 'remote', version: '1.0.0', binding: { bindingRef: 'demo.primary' } }],
  });
  await callControl(daemon.controlSocket, 'account.use', { account: 'ann' });
  await firstValueFrom(daemon.reconciler.tables.pipe(filter((table) => table.size === 1)));
  return { url: daemon.mcpUrl, headers: { authorization: `Bearer ${daemon.mcpToken}` }, tool: 'demo__echo' };
} // prettier-ignore
