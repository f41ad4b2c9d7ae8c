import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from 'undici';
import type { Daemon } from '../../src/host/index.ts';
import { fixtureConnector, modern, official, older, raw } from '../support/host/agent.ts';
import { daemonWith, published } from '../support/host/daemons.ts';
import { oddResult, oddTool } from '../support/host/fixtureServer.ts';

let daemon: Daemon;
beforeAll(async () => {
  const connectors = [
    fixtureConnector('alpha'),
    fixtureConnector('paged', { pageSize: 5 }),
    fixtureConnector('told', { announces: true }),
    fixtureConnector('wordy', { pageSize: 5, wordy: 8_000 }),
  ];
  daemon = await daemonWith({ connectors });
  await published(daemon, 'alpha', 'paged', 'told', 'wordy');
});
afterAll(() => daemon.close());

const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);
const result = (text: string) => (JSON.parse(text) as { result: { content: [{ text: string }] } }).result;
const error = (text: string) =>
  (JSON.parse(text) as { error: { code: number; message: string; data?: unknown } }).error;

test.each(['2026-07-28', '2025-11-25', '2025-06-18'])(
  'the official client lists all pages and calls a tool (%s)',
  async (version) => {
    const client = await official(daemon, version);
    const { tools } = await client.listTools();
    expect(names(tools).filter((name) => name.startsWith('paged__')).length).toBe(12);
    const answer = await client.callTool({ name: 'alpha__echo', arguments: { a: 1 } });
    expect(JSON.stringify(answer.content)).toContain('\\"arguments\\":{\\"a\\":1}');
    await client.close();
  },
);

test('the official client of the era before does too', async () => {
  const client = await older(daemon);
  const { tools } = await client.listTools();
  expect(names(tools)).toContain('told__echo');
  expect(JSON.stringify(await client.callTool({ name: 'told__echo' }))).toContain('echo');
  await client.close();
});

test('an unknown version of the era before is answered with one that is spoken', async () => {
  const params = { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { text } = await raw(daemon, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
  expect(result(text)).toMatchObject({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: false } },
  });
});

test('a definition is re-published byte for byte, but for its name and the marks that bind another hop', async () => {
  const { text } = await modern(daemon, 'tools/list');
  const wanted = oddTool.replace('"name":"odd"', '"name":"alpha__odd"').replace(',"x-mcp-header":"N"', '');
  expect(text).toContain(wanted);
});

test('a result passes byte for byte, with what this era adds', async () => {
  const { text } = await modern(daemon, 'tools/call', { name: 'alpha__odd' });
  expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${oddResult.slice(0, -1)},"resultType":"complete"}}`);
});

test('a cursor that many connectors make is as good as one of a single one, however long it gets', async () => {
  const found: string[] = [];
  const params: { cursor?: string } = {};
  do {
    const { text } = await modern(daemon, 'tools/list', params);
    const page = result(text) as unknown as { tools: { name: string }[]; nextCursor?: string };
    found.push(...names(page.tools));
    if (page.nextCursor === undefined) delete params.cursor;
    else params.cursor = page.nextCursor;
  } while (params.cursor !== undefined);
  expect(found.filter((name) => name.startsWith('wordy__')).length).toBe(12);
  expect(new Set(found).size).toBe(found.length);
});

test('a cursor that this list did not give is refused', async () => {
  for (const cursor of ['', 'x', 'a.b', 'p3'])
    expect(error((await modern(daemon, 'tools/list', { cursor })).text).code).toBe(-32602);
});

test("an owner's error passes with its code and data, in-band", async () => {
  const { status, text } = await modern(daemon, 'tools/call', { name: 'alpha__fail' });
  expect(status).toBe(200);
  expect(error(text)).toEqual({ code: -32050, message: 'no luck', data: { why: 'x' } });
});

test('progress comes under the agent’s own token, all of it before the result', async () => {
  const meta = { progressToken: 'mine' };
  const { messages } = await modern(daemon, 'tools/call', { name: 'alpha__progress' }, { meta });
  const notes = messages.slice(0, -1).map((text) => (JSON.parse(text) as { params: unknown }).params);
  expect(notes).toEqual([1, 2, 3, 4].map((progress) => ({ progressToken: 'mine', progress, total: 4 })));
  expect(result(messages.at(-1) ?? '')).toMatchObject({ content: [] });
});

/** Waits until so many calls hang at an owner, then goes on. */
const hangs = (connector: string, count: number) =>
  expect
    .poll(async () => (await modern(daemon, 'tools/call', { name: `${connector}__hanging` })).text)
    .toContain(`"text":"${count}"`);

test('closing the request cancels it at its owner', async () => {
  const before = (await modern(daemon, 'tools/call', { name: 'told__cancelled' })).text;
  const stop = new AbortController();
  const hanging = modern(daemon, 'tools/call', { name: 'told__hang' }, { signal: stop.signal });
  const left = expect(hanging).rejects.toThrow();
  await hangs('told', 1);
  stop.abort();
  await left;
  await expect
    .poll(async () => (await modern(daemon, 'tools/call', { name: 'told__cancelled' })).text)
    .not.toBe(before);
});

test('the era before cancels by the id of its request', async () => {
  const call = { jsonrpc: '2.0', id: 'c-1', method: 'tools/call', params: { name: 'told__hang', arguments: {} } };
  const hanging = raw(daemon, JSON.stringify(call));
  await hangs('told', 2);
  const note = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c-1' } };
  expect((await raw(daemon, JSON.stringify(note))).status).toBe(202);
  expect(error((await hanging).text).code).toBe(-32603);
});

test('an id that two requests of the era before carry cancels neither', async () => {
  const cancelled = async () => (await modern(daemon, 'tools/call', { name: 'told__cancelled' })).text;
  const call = { jsonrpc: '2.0', id: 'twin', method: 'tools/call', params: { name: 'told__hang', arguments: {} } };
  const stop = new AbortController();
  const twins = [0, 1].map(() => raw(daemon, JSON.stringify(call), {}, stop.signal));
  const left = Promise.allSettled(twins);
  await hangs('told', 4);
  const before = await cancelled();
  const note = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'twin' } };
  expect((await raw(daemon, JSON.stringify(note))).status).toBe(202);
  expect(await cancelled()).toBe(before);
  stop.abort();
  expect((await left).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a tool that nobody has is an error of the parameters', async () => {
  for (const name of ['alpha__nothing', 'nobody__echo', 'echo', '__proto__', 'alpha'])
    expect(error((await modern(daemon, 'tools/call', { name })).text).code).toBe(-32602);
});

test('changed tools are called by their new contract, and streams that asked for it are told', async () => {
  const told: string[] = [];
  const listening = await request(daemon.mcpUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      authorization: `Bearer ${daemon.mcpToken}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 9007199254740000, method: 'subscriptions/listen' },
      params: {
        notifications: { toolsListChanged: true, promptsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  listening.body.on('data', (chunk: Buffer) => told.push(chunk.toString()));
  await expect.poll(() => told.join()).toContain('"notifications":{"toolsListChanged":true}');
  expect(error((await modern(daemon, 'tools/call', { name: 'told__fresh' })).text).code).toBe(-32602);
  await modern(daemon, 'tools/call', { name: 'told__change' });
  await expect.poll(() => told.join()).toContain('notifications/tools/list_changed');
  expect(told.join()).toContain('"io.modelcontextprotocol/subscriptionId":9007199254740000');
  expect(result((await modern(daemon, 'tools/call', { name: 'told__fresh' })).text)).toMatchObject({ content: [{}] });
  listening.body.on('error', () => undefined).destroy();
});

test('many agents with one id each get their own answer', async () => {
  const ask = async (n: number) => {
    const { text } = await modern(daemon, 'tools/call', { name: 'told__echo', arguments: { n } }, { id: 1 });
    return text.includes(`\\"n\\":${n}}`);
  };
  // One round after the other: more at once than an agent may ask are told to wait.
  for (let round = 0; round < 5; round++) {
    const own = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(round * 100 + n)));
    expect(own.every(Boolean)).toBe(true);
  }
});

test('more at once than an agent may ask is told to wait', async () => {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const params = { name: 'told__hang' };
  const hanging = Array.from({ length: 64 }, (_, id) =>
    modern(daemon, 'tools/call', params, { id, signal: stop.signal }),
  );
  const ended = Promise.allSettled(hanging);
  await expect.poll(async () => (await modern(daemon, 'tools/list', {})).status).toBe(429);
  const { headers, text } = await modern(daemon, 'tools/list', {});
  expect([headers['retry-after'], error(text).code]).toEqual(['1', -33005]);
  stop.abort();
  await ended;
  await expect.poll(async () => (await modern(daemon, 'tools/call', { name: 'told__echo' })).status).toBe(200);
});

test('a withdrawn route ends its calls with an unknown outcome', async () => {
  const hanging = modern(daemon, 'tools/call', { name: 'paged__hang' });
  await hangs('paged', 1);
  daemon.reconciler.accept({ type: 'connector.toggled', data: { connector: 'paged', enabled: false } });
  expect(error((await hanging).text)).toMatchObject({ code: -33003, data: { outcomeUnknown: true } });
  expect(error((await modern(daemon, 'tools/call', { name: 'paged__echo' })).text).message).toContain('switched off');
  daemon.reconciler.accept({ type: 'connector.toggled', data: { connector: 'paged', enabled: true } });
  await published(daemon, 'alpha', 'paged', 'told', 'wordy');
});
