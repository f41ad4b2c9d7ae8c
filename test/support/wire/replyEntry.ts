/** An answer to our client as an entry point: JSON bodies and event streams of a server on loopback. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { postStreamed } from '../../../src/protocol/streamedPost.ts';
import { createModernClient, parseJson } from '../../../src/protocol/index.ts';
import { BadTexts, edited } from './badText.ts';
import { Random } from './random.ts';
import type { Entry } from './siege.ts';

/** Stands for the id of the request, which is known only when it is answered. */
const ID = 424242;
const good = { jsonrpc: '2.0', id: ID, result: { resultType: 'complete', content: [{ type: 'text', text: 'é ok' }] } };
const refusal = { jsonrpc: '2.0', id: ID, error: { code: -33003, message: 'away', data: { retryAfterMs: 1 } } };
const note = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: ID, progress: 1 } };

export async function replyEntry(seed: number): Promise<Entry & { close(): Promise<void> }> {
  const random = new Random(seed);
  const texts = new BadTexts(seed, [good, refusal, note]);
  const replies = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { id, params } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number; params: { arguments: { n: string } } }; // prettier-ignore
      const reply = (replies.get(params.arguments.n) ?? Buffer.alloc(0)).toString('latin1').replaceAll(String(ID), String(id)); // prettier-ignore
      const stream = /^(?:data|event|id|retry|:|\r|\n|\xef\xbb\xbf)/.test(reply);
      const status = reply.includes('-33003') ? 503 : 200;
      response.writeHead(status, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      response.end(Buffer.from(reply, 'latin1'));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pool = new Pool(url, { connections: 32 });
  const client = createModernClient({
    ...{ url, post: ({ headers, body, stop }) => postStreamed(pool, { path: '/', headers, body }, { stop }) },
    ...{ clientInfo: { name: 'siege', version: '1' }, connectorVersion: null, now: Date.now },
    deadlines: { firstByteMs: 4_000, gapMs: 4_000, totalMs: 4_500 },
  });
  let count = 0;
  const call = async (reply: Buffer): Promise<'refused' | 'accepted'> => {
    const n = String(++count);
    replies.set(n, reply);
    const args = parseJson(JSON.stringify({ n }));
    const outcome = await client.callTool({ name: 't', bindings: [], args, onProgress: () => undefined });
    replies.delete(n);
    if (outcome.ok) return 'accepted';
    if (outcome.failure.kind === 'timeout') throw new Error('a bad answer was waited for');
    return 'refused';
  };
  const next = (): Buffer => {
    const text = texts.next();
    return random.below(2) === 0 ? text : stream(random, text);
  };
  return {
    inFlight: 24,
    next,
    send: call,
    good: async () => {
      if ((await call(Buffer.from(JSON.stringify(good)))) !== 'accepted') throw new Error('a good answer was refused');
    },
    state: () => '',
    close: async () => {
      await pool.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

const lines = [
  'data',
  'data:',
  ':',
  'event: x',
  'event: message',
  'id: 7',
  'retry: 1',
  'retry: x',
  'foo: bar',
  '\u0000',
  'data:  ',
];

/** A text as an event, among lines that mean something, nothing, or too much. */
function stream(random: Random, text: Buffer): Buffer {
  const end = random.pick(['\n', '\r', '\r\n']);
  const before = Array.from({ length: random.below(4) }, () => random.pick(lines) + end).join('');
  const event = Buffer.concat([Buffer.from(`${before}data: `), text, Buffer.from(random.pick([end + end, end, '', end + end + end]))]);
  return random.below(3) === 0 ? edited(random, event, 1 + random.below(3)) : event;
} // prettier-ignore
