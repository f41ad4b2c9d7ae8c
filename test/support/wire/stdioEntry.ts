/** A line on a connector's stdout as an entry point: a real process that prints what it is told, and then the answer. */
import { silent } from '../../../src/host/log.ts';
import { StdioClient } from '../../../src/host/routes/stdioClient.ts';
import { stdioOwner } from '../../../src/host/routes/stdioOwner.ts';
import { childLimits } from '../../../src/host/routes/stdioTransport.ts';
import { parseJson } from '../../../src/protocol/index.ts';
import { childOf } from '../host/children.ts';
import { BadTexts } from './badText.ts';
import type { Entry } from './siege.ts';

/** Bad lines are what this is about, and their number is another test's. */
const unbounded = { lines: Infinity, bytes: Infinity, perMs: Infinity };

/** Stands for the id of the request, as a JSON text. */
const ID = 'the-id';

/** Prints the bytes of a call's argument as a line, and then the answer of its own. */
const program = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (raw) => {
  const { id, method, params } = JSON.parse(raw);
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 's', version: '1' } } });
  if (method !== 'tools/call') return;
  const said = Buffer.from(params.arguments.said, 'base64').toString('latin1').replaceAll('${ID}', id);
  process.stdout.write(Buffer.from(said + '\\n', 'latin1'));
  send({ id, result: { content: [{ type: 'text', text: 'own' }] } });
}).on('close', () => process.exit(0));
`;

const lines = [
  { jsonrpc: '2.0', id: ID, result: { content: [{ type: 'text', text: 'é' }] } },
  { jsonrpc: '2.0', id: ID, error: { code: -32050, message: 'no', data: [1] } },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: ID, progress: 1 } },
  { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } },
  { jsonrpc: '2.0', id: 9, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
  { jsonrpc: '2.0', id: 9, method: 'ping' },
];

export async function stdioEntry(seed: number): Promise<Entry & { close(): Promise<void> }> {
  const signal = new AbortController().signal;
  const options = { hostVersion: '1', log: silent, signal, limits: { ...childLimits, noise: unbounded } };
  const client = await StdioClient.open(childOf(program), options);
  let gone = '';
  void client.exited.then((why) => (gone = why));
  const owner = stdioOwner(client, () => 0);
  const texts = new BadTexts(seed, lines);
  const call = async (said: Buffer): Promise<'refused' | 'accepted'> => {
    const args = parseJson(JSON.stringify({ said: said.toString('base64') }));
    const asked = { name: 'say', bindings: [], args, onProgress: () => undefined };
    const outcome = await owner.callTool(asked, { signal: new AbortController().signal });
    if (outcome.ok) return outcome.value.text.includes('"own"') ? 'refused' : 'accepted';
    if (outcome.failure.kind !== 'protocol' && outcome.failure.kind !== 'error')
      throw new Error(`a bad line came to ${outcome.failure.kind}: ${outcome.failure.message}`);
    return 'refused';
  };
  return {
    inFlight: 12,
    next: () => texts.next(),
    send: call,
    good: async () => {
      const said = Buffer.from(JSON.stringify(lines[0]));
      if ((await call(said)) !== 'accepted') throw new Error('a good line was not taken');
    },
    state: () => gone,
    close: () => client.close(),
  };
}
