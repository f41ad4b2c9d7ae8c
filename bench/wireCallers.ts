/** Those who call: by hand over undici, by our client, and by the official one. A run lasts a while and tells how it went. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Pool } from 'undici';
import { openPools } from '../src/host/pools.ts';
import { directFactory } from '../src/host/routes/directFactory.ts';
import type { RemoteClientRequest } from '../src/host/routes/remoteClientFactory.ts';
import { parseJson } from '../src/protocol/index.ts';
import { BadTexts } from '../test/support/wire/badText.ts';
import type { Address } from './wirePlaces.ts';

export interface Ran {
  readonly calls: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

export interface RunOptions {
  readonly address: Address;
  readonly concurrency: number;
  readonly calls: number;
  /** When it ends although there are calls left. */
  readonly ms: number;
}

/** One call; throws when it is not answered with the result. */
type Call = () => Promise<void>;
const opened = new Map<string, Promise<Call>>();

/** Makes so many calls, some at once, within a time. */
export async function run(caller: string, { address, concurrency, calls, ms }: RunOptions): Promise<Ran> {
  const key = `${caller} ${address.url}`;
  const opening = opened.get(key) ?? openCaller(caller, address);
  opened.set(key, opening);
  const call = await opening;
  const took: number[] = [];
  const until = performance.now() + ms;
  let begun = 0;
  const work = async (): Promise<void> => {
    for (let from = performance.now(); from < until && begun++ < calls; from = performance.now()) {
      await call();
      took.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  took.sort((a, b) => a - b);
  const at = (share: number): number =>
    1000 * (took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN);
  return { calls: took.length, p50Us: at(0.5), p99Us: at(0.99) };
}

function openCaller(caller: string, address: Address): Promise<Call> {
  if (caller === 'ours') return Promise.resolve(ours(address));
  return caller === 'sdk' ? sdk(address) : Promise.resolve(byHand(address));
}

const args = { city: 'Zürich', days: 3 };
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'sh.tutti/connectorVersion': '1.0.0',
};
const usual = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
};

const isResult = (text: string): boolean => text.includes('"content"') && text.length > 1_024;

function byHand({ url, headers, tool }: Address): Call {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 64 });
  const all = { ...usual, ...headers, 'mcp-method': 'tools/call', 'mcp-name': tool };
  let id = 0;
  return async () => {
    const params = { name: tool, arguments: args, _meta: meta };
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params });
    const reply = await pool.request({ path, method: 'POST', headers: all, body });
    const message = JSON.parse(await reply.body.text()) as { id: number; result?: { content: { text: string }[] } };
    if (message.id !== id && message.result === undefined) throw new Error('another answer');
    if ((message.result?.content[0]?.text.length ?? 0) < 1_024) throw new Error(`answered ${JSON.stringify(message)}`);
  };
}

/** As the daemon opens it: direct factory, pool and all; only the login is not read from a file. */
function ours({ url, tool }: Address): Call {
  const sessions = { of: (account: string) => Promise.resolve({ account, cookie: 'a=b' }), current: undefined };
  const baseUrl = new URL(url).origin;
  const client = directFactory({ baseUrl, sessions, pools: openPools(), hostVersion: '1' })(asked);
  return async () => {
    const outcome = await client.callTool({ name: tool, bindings: [], args: parseJson(JSON.stringify(args)) });
    if (!outcome.ok || !isResult(outcome.value.text)) throw new Error('no result');
  };
}

const asked: RemoteClientRequest = {
  ...{ operation: 'o', connection: 'c', connector: 'demo', account: 'ann', generation: 'g', epoch: 1 },
  release: { version: '1.0.0', digest: 'd' },
  binding: { bindingRef: 'demo.primary', contractVersion: 1 },
};

async function sdk({ url, tool }: Address): Promise<Call> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return async () => {
    const { content } = await client.callTool({ name: tool, arguments: args });
    if (!Array.isArray(content) || content.length === 0) throw new Error('no result');
  };
}

/** Sends bad bodies, sixteen at a time. */
export async function sendBad(options: {
  readonly address: Address;
  readonly seed: number;
  readonly count: number;
}): Promise<{ readonly count: number; readonly bytes: number }> {
  const { address, seed, count } = options;
  const { origin, pathname: path } = new URL(address.url);
  const pool = new Pool(origin, { connections: 16 });
  const params = { name: address.tool, arguments: args, _meta: meta };
  const texts = new BadTexts(seed, [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params }]);
  const headers = { ...usual, ...address.headers, 'mcp-method': 'tools/call', 'mcp-name': address.tool };
  let [sent, bytes] = [0, 0];
  const work = async (): Promise<void> => {
    while (sent++ < count) {
      const body = texts.next();
      bytes += body.length;
      const reply = await pool.request({ path, method: 'POST', headers, body });
      await reply.body.dump();
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  await pool.close();
  return { count, bytes };
}
