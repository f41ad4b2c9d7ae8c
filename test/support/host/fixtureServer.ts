/**
 * A stdio server in one script, for what the public servers do not do: pages, changes, hanging, dying, foreign numbers. It speaks the
 * `initialize` era in raw lines, so that what it sends is known to the byte.
 */
export interface FixtureMode {
  /** Tools a page; all on one page when absent. */
  readonly pageSize?: number;
  readonly announces?: boolean;
  /** The method that is never answered. */
  readonly hang?: 'initialize' | 'tools/list' | 'tools/call';
  /** Milliseconds before every list. */
  readonly listMs?: number;
  /** Names of the tools beside the usual. */
  readonly more?: readonly string[];
  /** Lists that are answered; later ones are not. */
  readonly lists?: number;
  /** Characters that every cursor is longer than it needs to be. */
  readonly wordy?: number;
  /** The list never ends. */
  readonly endless?: boolean;
}

/** As a connector definition's env. */
export function fixtureEnv(mode: FixtureMode = {}): { readonly FIXTURE: string } {
  return { FIXTURE: JSON.stringify(mode) };
}

/** A definition text with what parsers lose: a 64-bit number, unknown members, an order of its own. */
export const oddTool =
  '{"zeta":1,"name":"odd","annotations":{"x":18446744073709551615},"inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993,"x-mcp-header":"N"}},"$comment":"é"},"title":"Odd"}';

/** A result text likewise. */
export const oddResult =
  '{"content":[{"type":"hologram","n":18446744073709551615},{"type":"text","text":"ok","unknown":{"a":1.50}}],"extra":[],"isError":false}';

export const fixtureServer = `
const mode = JSON.parse(process.env.FIXTURE || '{}');
const line = (text) => process.stdout.write(text + '\\n');
const send = (message) => line(JSON.stringify({ jsonrpc: '2.0', ...message }));
const plain = (name) => JSON.stringify({ name, description: name, inputSchema: { type: 'object' } });
let tools = ['echo', 'raw', 'hang', 'progress', 'fail', 'reauth', 'cancelled', 'change', 'die', 'hanging', 'big'].concat(mode.more || []).map(plain);
tools.push(${JSON.stringify(oddTool)});
const cancelled = [];
let hanging = 0;
let lists = 0;
const list = (id, cursor) => {
  const size = mode.pageSize || tools.length;
  const from = cursor === undefined ? 0 : Number(cursor.slice(1).split('.')[0]);
  const padding = mode.wordy ? '.' + 'x'.repeat(mode.wordy) : '';
  const next = mode.endless ? ',"nextCursor":"p' + (from + 1) + '"' : from + size < tools.length ? ',"nextCursor":"p' + (from + size) + padding + '"' : '';
  const page = mode.endless ? [plain('t' + from)] : tools.slice(from, from + size);
  line('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":{"tools":[' + page.join(',') + ']' + next + '}}');
};
const text = (id, value) => send({ id, result: { content: [{ type: 'text', text: JSON.stringify(value) }] } });
const run = {
  echo: (id, params) => text(id, params),
  // A request of its own under the very id that it is asked with, before the answer.
  asks: (id) => { send({ id, method: 'ping' }); text(id, 'answered'); },
  hang: () => { hanging++; },
  raw: (id, params, raw) => text(id, raw),
  cancelled: (id) => text(id, cancelled),
  hanging: (id) => text(id, hanging),
  fail: (id) => send({ id, error: { code: -32050, message: 'no luck', data: { why: 'x' } } }),
  reauth: (id) => send({ id, error: { code: -33002, message: 'pretends' } }),
  die: () => process.exit(7),
  flood: () => setInterval(() => process.stdout.write('noise noise\\n'.repeat(1000)), 1),
  odd: (id) => line('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + ${JSON.stringify(oddResult)} + '}'),
  big: (id) => line('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":{"content":[{"type":"text","text":"' + 'x'.repeat(9000000) + '"}]}}'),
  change: (id) => {
    tools = tools.filter((t) => !t.includes('"fail"')).concat(plain('fresh'));
    send({ method: 'notifications/tools/list_changed' });
    text(id, 'changed');
  },
  progress: (id, params) => {
    const note = (progress) => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress, total: 4 } }) + '\\n';
    // In one write with the result: a relay that answers first loses the last of them.
    process.stdout.write([1, 2, 3, 4].map(note).join('') + JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }) + '\\n');
  },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (raw) => {
  const { id, method, params } = JSON.parse(raw);
  if (method === mode.hang) return;
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: mode.announces === true } }, serverInfo: { name: 'fixture', version: '1' } } });
  else if (method === 'tools/list') ++lists <= (mode.lists || 1e9) && setTimeout(() => list(id, params && params.cursor), mode.listMs || 0);
  else if (method === 'tools/call') (run[params.name] || run.echo)(id, params, raw);
  else if (method === 'notifications/cancelled') cancelled.push(params.requestId);
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
}).on('close', () => process.exit(0));
`;
