/** An agent's side of the local server: the official clients, and raw requests where the bytes count. */
import { Client } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { request } from 'undici';
import { openSseReader } from '../../../src/protocol/index.ts';
import { folder } from './controlServer.ts';
import { fixtureEnv, fixtureServer, type FixtureMode } from './fixtureServer.ts';

export interface Endpoint {
  readonly mcpUrl: string;
  readonly mcpToken: string;
}

const bearer = ({ mcpToken }: Endpoint) => ({ requestInit: { headers: { authorization: `Bearer ${mcpToken}` } } });

/** The official client of today, pinned to a version of the protocol. */
export async function official(endpoint: Endpoint, version: string): Promise<Client> {
  const modern = version === '2026-07-28';
  const options = modern
    ? { versionNegotiation: { mode: { pin: version } } }
    : { supportedProtocolVersions: [version] };
  const client = new Client({ name: 'agent', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint.mcpUrl), bearer(endpoint)));
  return client;
}

/** The official client of before, which begins with `initialize`. */
export async function older(endpoint: Endpoint): Promise<OldClient> {
  const client = new OldClient({ name: 'old agent', version: '1' });
  await client.connect(new OldTransport(new URL(endpoint.mcpUrl), bearer(endpoint)) as never);
  return client;
}

export interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The messages of a stream, in order; of a plain answer the one. */
  readonly messages: readonly string[];
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export interface RawOptions {
  readonly id?: number | string;
  /** Goes into `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** One request of the modern era, by hand. `arguments` may be given as text. */
export async function modern(
  endpoint: Endpoint,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { id = 1, meta = {}, signal }: RawOptions = {},
): Promise<Raw> {
  const named = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...modernMeta, ...meta } } });
  return raw(endpoint, body, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named }, signal);
}

/** One POST with these headers beside the usual ones. */
export async function raw(
  endpoint: Endpoint,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Raw> {
  const usual = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${endpoint.mcpToken}`,
  };
  const options = { method: 'POST' as const, headers: { ...usual, ...headers }, body };
  const reply = await request(endpoint.mcpUrl, signal === undefined ? options : { ...options, signal });
  const bytes = Buffer.from(await reply.body.arrayBuffer());
  const stream = String(reply.headers['content-type']).startsWith('text/event-stream');
  const text = bytes.toString('utf8');
  const messages = stream
    ? openSseReader()
        .feed(bytes)
        .map(({ data }) => data)
    : [text];
  return { status: reply.statusCode, headers: reply.headers, text, messages };
}

/** A stdio connector that is the fixture server. */
export function fixtureConnector(id: string, mode: FixtureMode = {}) {
  const env = fixtureEnv(mode);
  return { id, kind: 'stdio' as const, command: process.execPath, args: ['-e', fixtureServer], env, cwd: folder() };
}
