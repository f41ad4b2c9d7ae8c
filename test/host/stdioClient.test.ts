import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { silent } from '../../src/host/log.ts';
import { StdioClient } from '../../src/host/routes/stdioClient.ts';
import { stdioOwner } from '../../src/host/routes/stdioOwner.ts';
import { childLimits } from '../../src/host/routes/stdioTransport.ts';
import { readAll } from '../../src/host/routes/wholeList.ts';
import { childOf, lives } from '../support/host/children.ts';
import { fixtureEnv, fixtureServer, oddResult, oddTool, type FixtureMode } from '../support/host/fixtureServer.ts';

const opened: StdioClient[] = [];
const end = async (): Promise<void> => void (await Promise.all(opened.splice(0).map((client) => client.close())));
let shared: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  shared = await open();
  opened.length = 0;
});
afterEach(end);
afterAll(() => shared.client.close());

const limits = { ...childLimits, patience: { stdinMs: 200, termMs: 200 } };
const signal = new AbortController().signal;

async function open(mode: FixtureMode = {}, openMs = 15_000) {
  let changes = 0;
  const onToolsChanged = (): void => void (changes += 1);
  const options = { hostVersion: '1', log: silent, signal, limits, openMs, onToolsChanged };
  const client = await StdioClient.open(childOf(fixtureServer, fixtureEnv(mode)), options);
  opened.push(client);
  return { client, owner: stdioOwner(client, () => changes) };
}

const call = (name: string, argsText = '{}', onProgress?: (params: unknown, text: string) => void) => ({
  ...{ name, bindings: [], onProgress },
  args: { text: argsText, value: JSON.parse(argsText) as unknown },
});

test('definitions and results pass byte for byte, numbers and unknown members included', async () => {
  const { owner } = shared;
  const list = await readAll(owner, { signal });
  expect(list.ok && list.value.find(({ name }) => name === 'odd')?.text).toBe(oddTool);
  expect(await owner.callTool(call('odd'), { signal })).toMatchObject({ value: { text: oddResult } });
});

test('arguments reach the server as the text they were', async () => {
  const { owner } = shared;
  const outcome = await owner.callTool(call('raw', '{"n":18446744073709551615,"f":1.50}'), { signal });
  expect(outcome.ok && outcome.value.text.replaceAll('\\', '')).toContain(
    '"arguments":{"n":18446744073709551615,"f":1.50}',
  );
});

test('all progress comes before the answer, also when it is written together with it', async () => {
  const { owner } = shared;
  const seen: string[] = [];
  await owner.callTool(
    call('progress', '{}', (_, text) => seen.push(text)),
    { signal },
  );
  expect(seen.map((text) => (JSON.parse(text) as { progress: number }).progress)).toEqual([1, 2, 3, 4]);
});

test('what is given up is cancelled at the server under the id it was sent with, and the session goes on', async () => {
  const { owner } = shared;
  const stop = new AbortController();
  const hanging = owner.callTool(call('hang'), { signal: stop.signal });
  stop.abort();
  expect(await hanging).toMatchObject({ ok: false, failure: { kind: 'aborted', mayHaveRun: true } });
  const cancelled = await owner.callTool(call('cancelled'), { signal });
  expect(cancelled.ok && cancelled.value.text).toMatch(/dacapo-\d+/);
});

test('silence is a timeout whose outcome is unknown', async () => {
  const { owner } = shared;
  const outcome = await owner.callTool(call('hang'), { signal, deadlines: { totalMs: 100 } });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', mayHaveRun: true } });
});

test("the server's own error passes with code, message and data", async () => {
  const { owner } = shared;
  const error = { code: -32050, message: 'no luck', dataText: '{"why":"x"}' };
  expect(await owner.callTool(call('fail'), { signal })).toMatchObject({
    ok: false,
    failure: { kind: 'error', error },
  });
});

test('a process can not say that its authorization is over: only a gateway can', async () => {
  const { owner } = shared;
  const outcome = await owner.callTool(call('reauth'), { signal });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: 'protocol', error: undefined } });
});

test('a request of the server under the id of ours is no answer to it', async () => {
  const { owner } = shared;
  const outcome = await owner.callTool(call('asks'), { signal });
  expect(outcome).toMatchObject({ ok: true, value: { value: { content: [{ text: '"answered"' }] } } });
});

test('the agent’s own _meta goes along, what belongs to another hop does not', async () => {
  const { owner } = shared;
  const metaText =
    '{"traceparent":"00-1","progressToken":"theirs","io.modelcontextprotocol/clientInfo":{},"sh.tutti/x":1}';
  const outcome = await owner.callTool(call('echo'), { signal, metaText });
  expect(
    outcome.ok && JSON.parse((outcome.value.value as { content: [{ text: string }] }).content[0].text),
  ).toMatchObject({
    _meta: { traceparent: '00-1' },
  });
  expect(JSON.stringify(outcome)).not.toMatch(/theirs|clientInfo|sh\.tutti/);
});

test('a process that dies during a call ends it at once, unknown outcome, never sent again', async () => {
  const { client, owner } = await open();
  const outcome = await owner.callTool(call('die'), { signal });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: 'unavailable', mayHaveRun: true } });
  expect(await client.exited).toBe('exited with code 7');
});

test('pages are followed to the end, and a list without end is a fault', async () => {
  const paged = await readAll((await open({ pageSize: 3 })).owner, { signal });
  expect(paged.ok && paged.value.length).toBe(12);
  const endless = await readAll((await open({ endless: true })).owner, { signal });
  expect(endless).toMatchObject({ ok: false, failure: { kind: 'protocol' } });
});

test('a change of the tools is counted where the server promises to announce it', async () => {
  const { owner } = await open({ announces: true });
  expect(owner.changes()).toBe(0);
  await owner.callTool(call('change'), { signal });
  expect(owner.changes()).toBe(1);
  expect((await open()).owner.changes()).toBeUndefined();
});

test('a result above the limit ends the process, not the daemon', async () => {
  const { client, owner } = await open();
  expect(await owner.callTool(call('big'), { signal })).toMatchObject({ ok: false, failure: { kind: 'unavailable' } });
  expect(await client.exited).toContain('a line of more than');
});

test('a server that never completes the handshake is given up and ended', async () => {
  const started = StdioClient.open(childOf(fixtureServer, fixtureEnv({ hang: 'initialize' })), {
    ...{ hostVersion: '1', log: silent, signal, limits, openMs: 400 },
  });
  await expect(started).rejects.toMatchObject({ code: -33004 });
});

test('a server that dies at once says why, without its own words', async () => {
  const said: string[] = [];
  const options = { hostVersion: '1', log: silent, signal, limits, onLastWords: (text: string) => said.push(text) };
  const started = StdioClient.open(childOf(`console.error('key sk-123 is wrong'); process.exit(2)`), options);
  await expect(started).rejects.toMatchObject({
    code: -33003,
    message: expect.stringMatching(/exited with code 2$/) as string,
  });
  expect(said.join()).toContain('sk-123');
});

test('the public everything server is handled as it is', async () => {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const spec = { ...childOf(''), args: [join(dirname(manifest), 'dist/index.js'), 'stdio'] };
  const client = await StdioClient.open(spec, { hostVersion: '1', log: silent, signal, limits });
  opened.push(client);
  const owner = stdioOwner(client, () => 0);
  const list = await readAll(owner, { signal });
  expect(list.ok && list.value.length).toBeGreaterThan(10);
  const outcome = await owner.callTool(call('echo', '{"message":"hi"}'), { signal });
  expect(outcome).toMatchObject({ ok: true, value: { text: '{"content":[{"type":"text","text":"Echo: hi"}]}' } });
  await client.close();
  expect(lives(client.pid ?? 0)).toBe(false);
});
