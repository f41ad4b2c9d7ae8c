/**
 * What a caller brings and the suite does not: a credential, and the connector's version in header and `_meta`. A proxy on loopback
 * that adds these and changes nothing else: headers in their order, bodies byte for byte where they are no JSON with a `_meta`.
 *
 * `Host` and `Origin` pass as they came, but for one thing: where the server behind it only answers to the name of its own port, the
 * shim's own name is put into that one. A foreign name stays foreign.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ShimOptions {
  readonly credential: string;
  /** Where the requests go. Known only after the shim's own port is, because a gateway has to be told that. */
  readonly target: () => URL;
  readonly connectorVersion?: string;
  /** Put the target's port in place of the shim's in `Host` and `Origin`. */
  readonly rename?: boolean;
}

export interface Shim {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function openShim(options: ShimOptions): Promise<Shim> {
  const server = createServer((incoming, response) => void pass(options, port(), incoming, response));
  const port = (): number => (server.address() as AddressInfo).port;
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${port()}/mcp`,
    port: port(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

async function pass(
  options: ShimOptions,
  ownPort: number,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = options.target();
  const body = versioned(await bodyOf(incoming), options.connectorVersion);
  const own = options.rename === true ? [`localhost:${ownPort}`, `localhost:${target.port}`] : undefined;
  const outgoing = request({
    host: target.hostname,
    port: target.port,
    path: target.pathname,
    method: incoming.method ?? 'POST',
    headers: headersOf(incoming.rawHeaders, options, body, own),
    agent: false,
  });
  outgoing.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  outgoing.end(body);
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Of the suite's transfer only: the shim has read the body and knows its length. */
const TRANSFER = new Set(['content-length', 'transfer-encoding', 'connection']);

function headersOf(
  raw: readonly string[],
  { credential, connectorVersion }: ShimOptions,
  body: Buffer,
  own: readonly string[] | undefined,
): string[] {
  const added = connectorVersion === undefined ? [] : ['Tutti-Connector-Version', connectorVersion];
  const headers = ['Authorization', `Bearer ${credential}`, ...added, 'Content-Length', String(body.length)];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    if (!TRANSFER.has(name.toLowerCase())) headers.push(name, renamed(name, value, own));
  }
  return headers;
}

function renamed(name: string, value: string, [from, to]: readonly string[] = []): string {
  if (from === undefined || to === undefined) return value;
  if (name.toLowerCase() === 'host') return value === from ? to : value;
  return name.toLowerCase() === 'origin' && value === `http://${from}` ? `http://${to}` : value;
}

/** A request with an envelope gets the version into it; anything else is passed as it came. */
function versioned(body: Buffer, version: string | undefined): Buffer {
  const meta = version === undefined ? undefined : metaOf(body);
  if (meta === undefined) return body;
  meta.envelope['sh.tutti/connectorVersion'] = version;
  return Buffer.from(JSON.stringify(meta.message));
}

function metaOf(body: Buffer): { readonly message: unknown; readonly envelope: Record<string, unknown> } | undefined {
  try {
    const message = JSON.parse(body.toString('utf8')) as { params?: { _meta?: Record<string, unknown> } };
    const envelope = message.params?._meta;
    return typeof envelope === 'object' && envelope !== null ? { message, envelope } : undefined;
  } catch {
    return undefined;
  }
}
