/** The two servers of ours as entry points: bad bodies and header values in requests, and bad requests as bytes on a socket. */
import { connect } from 'node:net';
import { Pool } from 'undici';
import { BadHeads } from './badHead.ts';
import { BadTexts } from './badText.ts';
import { judgeAnswer } from './order.ts';
import { Random } from './random.ts';
import type { Entry } from './siege.ts';

/** A server of ours with a tool `tool` that echoes. */
export interface Target {
  readonly url: URL;
  /** Credential and version, whatever else is wrong. */
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly tool: string;
  readonly state: () => string;
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'siege', version: '1' },
};
const standing = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
};

interface Good {
  readonly headers: Readonly<Record<string, string>>;
  readonly message: unknown;
}

function goodRequest({ headers, meta }: Target, method: string, params: object, named: object = {}): Good {
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...envelope, ...meta } } };
  return {
    headers: { ...standing, ...headers, 'mcp-method': method, ...named },
    message,
  };
}

function goodCall(target: Target): Good {
  const params = { name: target.tool, arguments: { a: { b: [1, 'x'] } } };
  return goodRequest(target, 'tools/call', params, { 'mcp-name': target.tool });
}

/** Values that a header can carry, for the place of one that says something. */
const values = [
  '',
  'tools/list',
  'TOOLS/CALL',
  '2025-11-25',
  '=?base64?!!?=',
  '=?base64?4pyT?=',
  '*/*',
  'text/html',
  'null',
  '\u00e9',
  '-1',
];
const fields = ['mcp-method', 'mcp-name', 'mcp-protocol-version', 'content-type', 'accept', 'origin', 'authorization', 'mcp-param-a', 'tutti-connector-version', 'cookie', 'mcp-session-id', 'content-encoding']; // prettier-ignore

/** Bad bodies, every fourth with a bad header beside. */
export function bodies(target: Target, seed: number): Entry & { close(): Promise<void> } {
  const pool = new Pool(target.url.origin, { connections: 32, pipelining: 1 });
  const random = new Random(seed);
  const call = goodCall(target);
  const list = goodRequest(target, 'tools/list', { cursor: 'x' });
  const older = { jsonrpc: '2.0', id: 'a', method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const texts = new BadTexts(seed, [call.message, call.message, list.message, older]);
  const ask = async (headers: Good['headers'], body: Buffer): Promise<'refused' | 'accepted'> => {
    const { pathname: path } = target.url;
    const reply = await pool.request({ path, method: 'POST', headers, body });
    const bytes = Buffer.from(await reply.body.arrayBuffer());
    return judgeAnswer(reply.statusCode, String(reply.headers['content-type']), bytes);
  };
  const worse = (headers: Good['headers']): Good['headers'] =>
    random.below(4) > 0 ? headers : { ...headers, [random.pick(fields)]: random.pick(values) };
  return {
    inFlight: 32,
    next: () => texts.next(),
    send: (body) => ask(worse(call.headers), body),
    good: async () => {
      const answer = await ask(call.headers, Buffer.from(JSON.stringify(call.message)));
      if (answer !== 'accepted') throw new Error('a good call was refused');
    },
    state: target.state,
    close: () => pool.destroy(),
  };
}

/** Requests that are no HTTP, each on a connection of its own that ends after it. */
export function heads(target: Target, seed: number): Entry {
  const call = goodCall(target);
  const body = JSON.stringify(call.message);
  const lines = Object.entries({ host: target.url.host, connection: 'close', ...call.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const inputs = new BadHeads(seed, { path: target.url.pathname, fields: lines, body });
  const good = Buffer.from(
    [`POST ${target.url.pathname} HTTP/1.1`, ...lines, `content-length: ${Buffer.byteLength(body)}`, '', body].join(
      '\r\n',
    ),
  );
  return {
    inFlight: 32,
    next: () => inputs.next(),
    send: async (bytes) => judgeRaw(await exchange(target.url, bytes)),
    good: async () => {
      const answer = await exchange(target.url, good, WATCHED_MS);
      if (!/^HTTP\/1\.1 200 /.test(answer)) throw new Error(`a good call was answered ${answer.slice(0, 100)}`);
    },
    state: target.state,
  };
}

/** How long what looks unfinished may wait for more before its end is told: an end that comes at once is a caller that went away. */
const MORE_MS = 200;
const WATCHED_MS = 5_000;

/** Everything that comes back until the connection is closed. */
function exchange(url: URL, bytes: Buffer, moreMs = MORE_MS): Promise<string> {
  return new Promise((resolve) => {
    const heard: Buffer[] = [];
    const socket = connect(Number(url.port), url.hostname, () => socket.write(bytes));
    const end = setTimeout(() => socket.end(), moreMs);
    socket.on('data', (chunk: Buffer) => void heard.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(end);
      resolve(Buffer.concat(heard).toString('latin1'));
    });
  });
}

/** Closed without a word, or answered with a status that is no failure of ours. */
function judgeRaw(answer: string): 'refused' | 'accepted' {
  if (answer === '') return 'refused';
  // 100 only says that the body may come.
  const [first] = [...answer.matchAll(/^HTTP\/1\.1 ([0-9]{3}) /gm)].filter(([, status]) => status !== '100');
  if (first === undefined && /^HTTP\/1\.1 100 /.test(answer)) return 'refused';
  const status = Number(first?.[1]);
  if (!(status >= 200 && status < 500)) throw new Error(`answered ${answer.slice(0, 200)}`);
  return status < 300 ? 'accepted' : 'refused';
}
