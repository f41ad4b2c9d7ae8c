import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { callControl } from '../../src/host/controlClient.ts';
import { EXIT } from '../../src/cli/exit.ts';
import type { Status } from '../../src/reconcile/index.ts';
import { run } from '../support/commandLine.ts';
import { documentOf } from '../support/documents.ts';
import { procText, until, UpWorld, type Ready } from '../support/upWorld.ts';

// Every command is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

const world = new UpWorld();
let ready: Ready;
let atReady: Status;
beforeAll(async () => {
  ready = await world.start();
  atReady = await status();
}, 90_000);
afterAll(() => world.dispose(), 60_000);

const socket = (): string => `${world.state}/control.sock`;
const status = async (): Promise<Status> => (await callControl(socket(), 'status')) as Status;
const stateOf = async (connector: string): Promise<string | undefined> =>
  (await status()).routes.find((route) => route.connector === connector)?.state;
const pid = async (): Promise<number> =>
  ((await callControl(socket(), 'status')) as { daemon: { pid: number } }).daemon.pid;

test('whoever is told that it is ready finds the local tools at once', () => {
  const shown = atReady.routes.filter(({ state }) => state === 'published');
  expect(shown.map(({ connector }) => connector).sort()).toEqual(['files', 'memory']);
  expect(atReady.account?.synced).toBe(true);
});

test('the local connectors are published, and the remote one is withheld with its reason', async () => {
  await until(async () => (await stateOf('files')) === 'published' && (await stateOf('memory')) === 'published');
  await until(async () => (await status()).account?.synced === true);
  const { account, routes } = documentOf(
    'status',
    (await world.command('status', '--json')).stdout,
  ) as unknown as Status;
  expect(account?.id).toBe('ann');
  expect(routes.find(({ connector }) => connector === 'everything')).toMatchObject({
    state: 'withheld',
    reason: 'disconnected',
  });
});

test('no secret is in an argument or the environment of a child, and nobody else may read the state directory', () => {
  const secrets = [ready.mcpToken, ready.adminToken];
  for (const child of Object.values(ready.pids)) {
    const text = procText(child, 'cmdline') + procText(child, 'environ');
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  }
  for (const path of ['', 'secrets', 'config', 'control.sock', 'secrets/admin-token'])
    expect(statSync(`${world.state}/${path}`).mode & 0o077, path).toBe(0);
});

test('a secret from stdin connects, and the tools are there and answer', async () => {
  const connected = await run(
    ['connect', 'everything', '--secret-stdin', '--json', '--state', world.state],
    {},
    'demo-secret\n',
  );
  expect(documentOf('connect', connected.stdout)).toMatchObject({ outcome: 'succeeded', state: 'published' });
  const call = await world.command('call', 'everything__echo', '--args', '{"message":"hello"}', '--json');
  expect(call.code).toBe(0);
  expect(JSON.stringify(documentOf('call', call.stdout))).toContain('hello');
});

test('the business server of the demo knows nothing of this machine but where programs are', async () => {
  const { code, stdout } = await world.command('call', 'everything__get-env');
  expect(code).toBe(EXIT.ok);
  expect(JSON.parse(stdout)).toMatchObject({ HOME: `${world.state}/demo`, TMPDIR: `${world.state}/demo` });
  expect(
    Object.keys(JSON.parse(stdout) as object).filter((name) => !/^(HOME|LANG|PATH|TMPDIR|NODE_CHANNEL_.*)$/.test(name)),
  ).toEqual([]);
});

test('a refused key ends the call with 4 and withdraws the tools in the same turn', async () => {
  await world.document('demo', 'demo', 'key', 'reject');
  const call = await world.command('call', 'everything__echo', '--args', '{"message":"hello"}', '--json');
  expect(call.code).toBe(EXIT.unauthorized);
  expect(documentOf('call', call.stdout)).toMatchObject({ error: { code: -33002 } });
  expect(await stateOf('everything')).not.toBe('published');
});

test('a change on the server is found by a hint', async () => {
  await world.command('demo', 'key', 'accept', 'demo-secret');
  await run(['connect', 'everything', '--secret-stdin', '--state', world.state], {}, 'demo-secret');
  await until(async () => (await stateOf('everything')) === 'published');
  const revoke = ['demo', 'revoke', 'everything', '--account', 'account 1'] as const;
  expect(await world.document('demo-change', ...revoke)).toMatchObject({ state: 'disconnected', account: 'ann' });
  await until(async () => (await stateOf('everything')) === 'withheld');
});

test('an account that the daemon does not know is a usage error, with those that it knows', async () => {
  for (const command of [['why'], ['demo', 'rotate']]) {
    const { code, stdout, stderr } = await world.command(...command, 'everything', '--account', 'account 9');
    expect([code, stdout, stderr]).toEqual([EXIT.usage, '', expect.stringContaining('account 1 (ann)')]);
  }
});

test('a second up on the same state directory ends with 6 and changes nothing', async () => {
  const second = await world.command('up');
  expect([second.code, second.stdout]).toEqual([EXIT.conflict, '']);
  expect(second.stderr).toMatch(/in use[^]*next: /);
});

test('a killed daemon comes back at the same address with the same token and table', async () => {
  const before = (await status()).routes.map(({ connector, state }) => [connector, state]);
  const first = await pid();
  process.kill(first, 'SIGKILL');
  await until(async () => (await pid().catch(() => first)) !== first);
  await until(
    async () =>
      JSON.stringify((await status()).routes.map(({ connector, state }) => [connector, state])) ===
      JSON.stringify(before),
  );
  expect(await callControl(socket(), 'endpoint')).toEqual({ mcpUrl: ready.mcpUrl, mcpToken: ready.mcpToken });
});

test('a session that is not accepted is told by status, and a call says to sign in again', async () => {
  const file = `${world.state}/secrets/session-bob.json`;
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(good) as object), cookie: 'sid=bogus' }));
  await world.command('account', 'use', 'bob');
  await until(async () => (await status()).account?.failed != null);
  const { stdout } = await world.command('status');
  expect(stdout).toMatch(/Account bob: not read yet\.\nThe last .* failed at .*session \(401\).*next attempt at/);
  expect(stdout).toContain('next: sign in again');
  const call = await world.command('call', 'everything__echo', '--json');
  expect([call.code, call.stderr]).toEqual([EXIT.unauthorized, expect.stringContaining('next: sign in again')]);
  documentOf('status', (await world.command('status', '--json')).stdout);
  writeFileSync(file, good);
  await world.command('account', 'use', 'ann');
});

test('an account that could not be read yet is unavailable, with the cause, and not unauthorized', async () => {
  await world.command('demo', 'snapshot', 'off');
  await world.command('account', 'use', 'bob');
  await until(async () => (await status()).account?.failed != null);
  expect((await world.command('status')).stdout).toMatch(/unavailable \(503\)[^]*everything/);
  const call = await world.command('call', 'everything__echo');
  expect([call.code, call.stderr]).toEqual([EXIT.unavailable, expect.stringContaining('(503)')]);
  await world.command('demo', 'snapshot', 'on');
  await world.command('account', 'use', 'ann');
  await until(async () => (await status()).account?.synced === true);
});

test('the log of all this verifies, shows and exports', async () => {
  expect(await world.document('log-verify', 'log', 'verify')).toMatchObject({ broken: null });
  const shown = await world.command('log', 'show', '--jsonl', '--from', '3');
  const events = shown.stdout
    .trimEnd()
    .split('\n')
    .map((line) => documentOf('log-event', line));
  expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 3));
  expect(shown.stdout).not.toContain('demo-secret');
  expect(await world.document('log-export', 'log', 'export', `${world.state}/x.jsonl`, '--redact')).toMatchObject({
    redacted: true,
  });
});

test('SIGTERM ends it with 143 and leaves no process behind', async () => {
  expect(await world.end('SIGTERM')).toBe(EXIT.terminated);
  expect(world.left()).toEqual([]);
});

test(
  'when up itself is killed its children end too, and the next up has the same address',
  { timeout: 90_000 },
  async () => {
    const again = await world.start();
    expect([again.mcpUrl, again.mcpToken]).toEqual([ready.mcpUrl, ready.mcpToken]);
    await world.end('SIGKILL');
    await until(() => world.left().length === 0);
  },
);
