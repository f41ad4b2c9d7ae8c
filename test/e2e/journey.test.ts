/**
 * The main job, walked through once from outside: two generations of the official client and the command line against a whole
 * `dacapo up`. Between the steps the daemon is killed, ten times in all: what is published must be the same after each restart.
 */
import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { Client as UpstreamClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callControl } from '../../src/host/controlClient.ts';
import { openLogFile } from '../../src/events/index.ts';
import { evolve, initialState, stateHash, type Status } from '../../src/reconcile/index.ts';
import { modern, official, older } from '../support/host/agent.ts';
import { run } from '../support/commandLine.ts';
import { until, UpWorld, type Ready } from '../support/upWorld.ts';

const house = new UpWorld();
let ready: Ready;
let kills = 0;

beforeAll(async () => {
  ready = await house.start('--poll', '3600000');
}, 120_000);
afterAll(() => house.dispose(), 60_000);

const socket = (): string => `${house.state}/control.sock`;
const status = async (): Promise<Status> => (await callControl(socket(), 'status')) as Status;
const tableOf = async (): Promise<string> =>
  JSON.stringify(
    (await status()).routes.map(({ connector, account, state, reason }) => [connector, account, state, reason]),
  );
const reasonOf = async (connector: string): Promise<string | null | undefined> =>
  (await status()).routes.find((route) => route.connector === connector)?.reason;
const isPublished = async (connector: string): Promise<boolean> =>
  (await status()).routes.some((route) => route.connector === connector && route.state === 'published');

/** What an agent of today sees, by a request of its own. */
async function seen(): Promise<string[]> {
  const reply = await modern(ready, 'tools/list');
  const names = (
    JSON.parse(reply.messages.at(-1) ?? '{}') as { result: { tools: { name: string }[] } }
  ).result.tools.map(({ name }) => name);
  return [...new Set(names.map((name) => name.split('__')[0] as string))].sort();
}

const connect = (): ReturnType<typeof run> =>
  run(['connect', 'everything', '--secret-stdin', '--state', house.state], {}, 'demo-secret\n');
const demo = async (...args: string[]): Promise<void> => expect((await house.command('demo', ...args)).code).toBe(0);
const settled = (): Promise<void> => until(async () => (await status()).due.length === 0);

/** kill -9, and the very same table again. */
async function survivesKill(): Promise<void> {
  await settled();
  const before = await tableOf();
  const { pid } = ((await callControl(socket(), 'status')) as { daemon: { pid: number } }).daemon;
  process.kill(pid, 'SIGKILL');
  await until(
    async () =>
      ((await callControl(socket(), 'status').catch(() => null)) as { daemon: { pid: number } } | null)?.daemon.pid !==
      pid,
  );
  await until(
    async () =>
      (await callControl(socket(), 'status')
        .then(() => tableOf())
        .catch(() => '')) === before,
  );
  kills += 1;
}

describe('before an authorization', () => {
  test('only the local tools are there, and the remote connector says why it is not', async () => {
    await until(async () => (await isPublished('files')) && (await isPublished('memory')));
    await until(async () => (await reasonOf('everything')) === 'disconnected');
    expect(await seen()).toEqual(['files', 'memory']);
    await survivesKill();
  });
});

describe('connecting', () => {
  test('brings the tools without a restart, to an old client and to a new one', async () => {
    const old = await older(ready);
    const young = await official(ready, '2026-07-28');
    expect((await connect()).code).toBe(0);
    for (const client of [old, young] as Client[]) {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain('everything__echo');
      await client.close();
    }
    expect(await seen()).toEqual(['everything', 'files', 'memory']);
  }, 60_000);

  test('leaves the schemas as the upstream serves them', async () => {
    const upstream = new UpstreamClient({ name: 'direct', version: '1' });
    const entry = new URL(import.meta.resolve('@modelcontextprotocol/server-everything/package.json'));
    await upstream.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [new URL('dist/index.js', entry).pathname, 'stdio'],
      }),
    );
    const direct = (await upstream.listTools()).tools;
    await upstream.close();
    const reply = await modern(ready, 'tools/list');
    const ours = (
      JSON.parse(reply.messages.at(-1) ?? '{}') as { result: { tools: { name: string; inputSchema: unknown }[] } }
    ).result.tools;
    const common = direct.filter(({ name }) => ours.some((tool) => tool.name === `everything__${name}`));
    expect(common.length).toBeGreaterThan(5);
    for (const { name, inputSchema } of common) {
      expect(ours.find((tool) => tool.name === `everything__${name}`)?.inputSchema).toEqual(inputSchema);
    }
    await survivesKill();
  }, 60_000);

  test('makes a call return what the upstream answers', async () => {
    const client = await official(ready, '2026-07-28');
    const answer = await client.callTool({ name: 'everything__echo', arguments: { message: 'da capo' } });
    expect(answer.content).toEqual([{ type: 'text', text: 'Echo: da capo' }]);
    await client.close();
    await survivesKill();
  }, 60_000);
});

describe('a change on the server', () => {
  test('of the key reopens the route under its new version, with a fresh list', async () => {
    const before = (await status()).routes.find(({ connector }) => connector === 'everything')?.stamp
      ?.connectionVersion;
    await demo('rotate', 'everything');
    await until(async () => {
      const route = (await status()).routes.find(({ connector }) => connector === 'everything');
      return route?.state === 'published' && BigInt(route.stamp?.connectionVersion ?? 0) > BigInt(before ?? 0);
    });
    expect(await seen()).toContain('everything');
    await survivesKill();
  }, 60_000);

  test('that revokes withdraws within a second of its hint', async () => {
    await demo('revoke', 'everything');
    const revokedAt = Date.now();
    await until(async () => !(await isPublished('everything')));
    const log = (await house.command('log', 'show', '--jsonl')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; at: number });
    const hint = log.findLast(({ type }) => type === 'hint.received');
    const closed = log.findLast(({ type }) => type === 'snapshot.received');
    expect((closed?.at ?? 0) - (hint?.at ?? 0)).toBeLessThan(1_000);
    expect(closed?.at ?? 0).toBeLessThan(revokedAt + 1_000);
    expect(await seen()).toEqual(['files', 'memory']);
    await survivesKill();
  }, 60_000);
});

describe('a key that the upstream no longer takes', () => {
  test('is told as -33002, withdraws in the same turn, and stays so without flapping until the account connects anew', async () => {
    expect((await connect()).code).toBe(0);
    await demo('key', 'reject');
    const reply = await modern(ready, 'tools/call', { name: 'everything__echo', arguments: { message: 'x' } });
    expect(JSON.parse(reply.messages.at(-1) ?? '{}')).toMatchObject({ error: { code: -33002 } });
    expect(await seen()).toEqual(['files', 'memory']);
    await demo('key', 'accept', 'demo-secret');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const opened = (await house.command('log', 'show', '--jsonl')).stdout
      .split('\n')
      .filter((line) => line.includes('"route.opened"')).length;
    expect(await isPublished('everything')).toBe(false);
    await survivesKill();
    expect((await connect()).code).toBe(0);
    expect(await seen()).toContain('everything');
    expect(opened).toBeGreaterThan(0);
  }, 90_000);
});

describe('another account', () => {
  test('sees nothing of the first from the very next request, and a call in flight ends with its outcome unknown', async () => {
    const inFlight = modern(ready, 'tools/call', {
      name: 'everything__trigger-long-running-operation',
      arguments: { duration: 20, steps: 4 },
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await house.command('account', 'use', 'bob')).code).toBe(0);
    expect(await seen()).toEqual(['files', 'memory']);
    const ended = JSON.parse((await inFlight).messages.at(-1) ?? '{}') as { error?: { message: string } };
    expect(ended.error?.message).toMatch(/unknown/);
    await until(async () => (await status()).account?.synced === true);
    await survivesKill();
    expect(await reasonOf('everything')).toBe('disconnected');
  }, 90_000);

  test('and back: the first has its tools again', async () => {
    expect((await house.command('account', 'use', 'ann')).code).toBe(0);
    await until(() => isPublished('everything'));
    await survivesKill();
  }, 60_000);

  test('signed out: only what needs no account is left', async () => {
    expect((await house.command('account', 'sign-out')).code).toBe(0);
    expect(await seen()).toEqual(['files', 'memory']);
    expect((await status()).account).toBeNull();
    await survivesKill();
    expect((await house.command('account', 'use', 'ann')).code).toBe(0);
    await until(() => isPublished('everything'));
  }, 60_000);
});

describe('without the channel of hints', () => {
  test('a revocation is found by the poll', async () => {
    await demo('hints', 'off');
    await demo('revoke', 'everything');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await isPublished('everything')).toBe(true);
    await house.end('SIGTERM');
    ready = await house.start('--poll', '1000');
    await until(async () => (await reasonOf('everything')) === 'disconnected');
    await demo('hints', 'on');
    expect((await connect()).code).toBe(0);
    await demo('hints', 'off');
    await demo('revoke', 'everything');
    await until(async () => (await reasonOf('everything')) === 'disconnected');
    await demo('hints', 'on');
    await survivesKill();
  }, 120_000);
});

describe('without snapshots at boot', () => {
  test('local tools stay, and remote ones are closed with a reason', async () => {
    expect((await connect()).code).toBe(0);
    await demo('snapshot', 'off');
    await house.end('SIGTERM');
    ready = await house.start('--poll', '3600000');
    await until(async () => (await isPublished('files')) && (await isPublished('memory')));
    expect(await reasonOf('everything')).toBe('unknown');
    expect(await seen()).toEqual(['files', 'memory']);
    await demo('snapshot', 'on');
    await until(() => isPublished('everything'));
  }, 120_000);
});

describe('the log of all this', () => {
  test('replays, plain and redacted, to the same table, state hash and why as live', async () => {
    await settled();
    const exported = async (...how: string[]): Promise<{ hash: string; why: string }> => {
      const file = `${house.state}/export${how.join('')}.jsonl`;
      expect((await house.command('log', 'export', file, ...how)).code).toBe(0);
      const state = initialState();
      for (const event of openLogFile(file).read()) evolve(state, event);
      const why = await run(['why', 'everything', '--json', '--log', file]);
      expect(readFileSync(file, 'utf8')).not.toMatch(/demo-secret/);
      const { text, chain, wouldChange } = JSON.parse(why.stdout) as Record<string, unknown>;
      return { hash: stateHash(state), why: JSON.stringify({ text, chain, wouldChange }) };
    };
    const position = async (): Promise<unknown> =>
      (JSON.parse((await house.command('status', '--json')).stdout) as Record<string, unknown>)['position'];
    const all = async () => {
      const [plain, redacted] = [await exported(), await exported('--redact')];
      const told = JSON.parse((await house.command('why', 'everything', '--json')).stdout) as Record<string, unknown>;
      return { plain, redacted, told };
    };
    // A poll may come between two exports: then they are of two logs.
    let before = await position();
    let found = await all();
    for (let after = await position(); after !== before; after = await position())
      [before, found] = [after, await all()];
    const { plain, redacted, told } = found;
    const { text, chain, wouldChange } = told;
    expect(redacted).toEqual(plain);
    expect(plain.why).toBe(JSON.stringify({ text, chain, wouldChange }));
    expect(String(text)).toMatch(/^everything is published( for account \d)?\. Since event \d+/);
  }, 60_000);

  test('holds, after ten kills', async () => {
    expect(kills).toBe(10);
    expect((await house.command('log', 'verify')).code).toBe(0);
    expect(await house.end('SIGINT')).toBe(130);
    expect(house.left()).toEqual([]);
  }, 60_000);
});
