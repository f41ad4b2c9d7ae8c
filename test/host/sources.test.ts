import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Fact } from '../../src/events/index.ts';
import { connectorSchema, daemonConfigSchema, type DaemonConfigInput } from '../../src/host/config.ts';
import { silent } from '../../src/host/log.ts';
import { startAccounts } from '../../src/host/sources/accounts.ts';
import { startClock } from '../../src/host/sources/clock.ts';
import { inspect, installedFact } from '../../src/host/sources/connectors.ts';
import { sessionFiles } from '../../src/host/sources/sessions.ts';
import { folder, login } from '../support/host/controlServer.ts';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

test('a login is read anew each time', async () => {
  const file = join(folder(), 's.json');
  const sessions = sessionFiles(file);
  for (const cookie of ['a=1', 'a=2']) {
    login(file, 'ann', cookie);
    expect(await sessions.of('ann')).toEqual({ account: 'ann', cookie });
  }
});

test('an account without a login is answered with those that have one', async () => {
  const path = folder();
  for (const account of ['bob', 'a.n/n'])
    login(join(path, `s-${encodeURIComponent(account).replace('.', '%2E')}.json`), account);
  const { of } = sessionFiles(join(path, 's-{account}.json'));
  expect((await of('a.n/n')).account).toBe('a.n/n');
  await expect(of('nobody')).rejects.toMatchObject({
    reason: 'absent',
    message: 'nobody has no session file here; known are: a.n/n, bob',
  });
  await expect(sessionFiles(join(folder(), '{account}.json')).of('nobody')).rejects.toThrow('sign in first');
});

test.each([
  ['no file', undefined, 'absent'],
  ['no JSON', '{', 'malformed'],
  ['other members', '{"a":1}', 'malformed'],
  ['nobody', '{"session_id":"","cookie":"","user_id":""}', 'signed-out'],
  ['somebody else', '{"session_id":"s","cookie":"c","user_id":"bob"}', 'other-account'],
  ['a cookie with a line break', '{"session_id":"s","cookie":"c\\nx: y","user_id":"ann"}', 'malformed'],
])('a session file with %s gives no cookie', async (_, text, reason) => {
  const file = join(folder(), 's.json');
  if (text !== undefined) writeFileSync(file, text);
  await expect(sessionFiles(file).of('ann')).rejects.toMatchObject({ name: 'SessionRefused', reason });
});

test('the name of an account can not lead out of the folder of logins', async () => {
  const dir = folder();
  login(join(dir, 'x.json'), '../x');
  const sessions = sessionFiles(join(dir, 'sub', '{account}.json'));
  await expect(sessions.of('../x')).rejects.toMatchObject({ reason: 'absent' });
});

/** An engine's part that accounts need, which keeps what it is told. */
function ledger() {
  const facts: Fact[] = [];
  const active = () => {
    const last = facts.findLast(({ type }) => type === 'account.activated' || type === 'account.cleared');
    return last?.type === 'account.activated' ? last.data : null;
  };
  const accept = (fact: Fact | readonly Fact[]): void => void facts.push(...([fact].flat() as Fact[]));
  return { facts, reconciler: { accept, nextEpoch: () => facts.length + 1, get active() { return active(); } } }; // prettier-ignore
}

async function accounts(path: string, choiceFile: string) {
  const { facts, reconciler } = ledger();
  const told: (string | null)[] = [];
  const options = { sessions: sessionFiles(path), reconciler, choiceFile, log: silent, lookEveryMs: 20 };
  const started = await startAccounts({ ...options, onActive: (account) => told.push(account) });
  stops.push(() => started.stop());
  return { facts, told, started };
}

test('a choice of account outlives the daemon, and each start is a new login', async () => {
  const dir = folder();
  for (const account of ['ann', 'bob']) login(join(dir, `${account}.json`), account);
  const [path, choice] = [join(dir, '{account}.json'), join(dir, 'choice')];
  const first = await accounts(path, choice);
  await first.started.use('ann');
  await first.started.use('bob');
  expect(first.facts.map(({ data }) => data)).toEqual([{ account: 'ann', epoch: 1 }, { account: 'bob', epoch: 2 }]); // prettier-ignore
  const second = await accounts(path, choice);
  expect([second.facts, second.told]).toEqual([
    [{ type: 'account.activated', data: { account: 'bob', epoch: 1 } }],
    ['bob'],
  ]);
  second.started.signOut();
  expect((await accounts(path, choice)).facts).toEqual([]);
});

test('an account without a login can not be chosen, and the choice stays', async () => {
  const dir = folder();
  const { started, facts } = await accounts(join(dir, '{account}.json'), join(dir, 'choice'));
  await expect(started.use('ann')).rejects.toMatchObject({ reason: 'absent' });
  expect(facts).toEqual([]);
});

test('a disk that does not take the choice keeps nobody signed in, and a person is told', async () => {
  const dir = folder();
  login(join(dir, 'ann.json'), 'ann');
  const choice = join(dir, 'choice');
  const { started, facts, told } = await accounts(join(dir, '{account}.json'), choice);
  await started.use('ann');
  // Whoever the tests run as, a file can't be renamed over a folder that is not empty.
  rmSync(choice);
  mkdirSync(join(choice, 'x'), { recursive: true });
  expect(() => started.signOut()).toThrow('no account is active, but that could not be written down');
  expect([facts.at(-1)?.type, told.at(-1)]).toEqual(['account.cleared', null]);
  await expect(started.use('ann')).rejects.toMatchObject({ name: 'ChoiceNotKept' });
  expect(facts.at(-1)?.type).toBe('account.activated');
});

test('a login that changes is followed also where the disk does not take the choice', async () => {
  const dir = folder();
  const file = join(dir, 'session.json');
  login(file, 'ann');
  mkdirSync(join(dir, 'choice', 'x'), { recursive: true });
  const { facts } = await accounts(file, join(dir, 'choice'));
  login(file, 'bob');
  await expect.poll(() => facts.at(-1)?.data).toEqual({ account: 'bob', epoch: 2 });
});

test('the one login of a machine is followed when the desktop changes it', async () => {
  const dir = folder();
  const file = join(dir, 'session.json');
  login(file, 'ann');
  const { facts } = await accounts(file, join(dir, 'choice'));
  login(file, 'bob');
  await expect.poll(() => facts.at(-1)?.data).toEqual({ account: 'bob', epoch: 2 });
  rmSync(file);
  await expect.poll(() => facts.at(-1)).toEqual({ type: 'account.cleared', data: { epoch: 3 } });
});

/** A clock whose two hands a test moves. */
function machine() {
  const hands = { wall: 0, steady: 0 };
  return { hands, clocks: { wall: () => hands.wall, steady: () => hands.steady } };
}

test('the poll ticks again and again', async () => {
  const facts: Fact[] = [];
  stops.push(startClock({ everyMs: 10, accept: (fact) => facts.push(fact), onSleep: () => undefined }));
  await expect.poll(() => facts.length).toBeGreaterThan(3);
  expect(facts[0]).toEqual({ type: 'clock.ticked', data: { reason: 'poll' } });
});

test.each([
  ['the steady clock stood still', 8 * 3_600_000, 20],
  ['this process stood still', 40_000, 40_000],
])('after a sleep in which %s there is one poll, and connections are replaced', async (_, wall, steady) => {
  const { hands, clocks } = machine();
  const facts: Fact[] = [];
  let slept = 0;
  stops.push(
    startClock({
      everyMs: 300_000,
      accept: (fact) => facts.push(fact),
      onSleep: () => void slept++,
      clocks,
      lookEveryMs: 10,
      random: () => 0,
    }),
  );
  hands.wall += wall;
  hands.steady += steady;
  await expect.poll(() => [slept, facts.length]).toEqual([1, 1]);
});

test('a clock that is set back or forth by little is no sleep', async () => {
  const { hands, clocks } = machine();
  let slept = 0;
  stops.push(
    startClock({ everyMs: 300_000, accept: () => undefined, onSleep: () => void slept++, clocks, lookEveryMs: 5 }),
  );
  for (const wall of [-3_600_000, 20_000, -20_000]) {
    hands.wall += wall;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(slept).toBe(0);
});

const host = { version: '1.2.0', stateDir: '/state' };
const look = (config: NonNullable<DaemonConfigInput['connectors']>[number]) =>
  inspect(connectorSchema.parse(config), host);

test('an npm package is found and run by this Node', () => {
  const found = look({ id: 'memory', kind: 'stdio', package: '@modelcontextprotocol/server-memory' });
  expect(found).toMatchObject({
    incompatible: null,
    release: { version: '2026.8.31' },
    program: { command: process.execPath },
  });
});

test.each([
  ['a package that is not there', { id: 'a', kind: 'stdio', package: 'no-such-package-here' }, 'not-installed'],
  ['a program that is not there', { id: 'a', kind: 'stdio', command: '/no/such' }, 'not-installed'],
  [
    'a variable that loads code',
    { id: 'a', kind: 'stdio', command: '/bin/sh', env: { LD_PRELOAD: 'x' } },
    'LD_PRELOAD decides how programs are loaded: remove it',
  ],
  [
    'a host that is too old',
    { id: 'a', kind: 'remote', version: '1', minimumHostVersion: '1.10.0', binding: { bindingRef: 'a.b' } },
    'needs host 1.10.0 or later, this is 1.2.0',
  ],
] as const)('a connector with %s is installed and can not run, with the reason', (_, config, incompatible) => {
  const found = look(config as never);
  expect(found).toMatchObject({ incompatible, program: null });
  expect(installedFact(found)).toMatchObject({ type: 'connector.installed', data: { incompatible } });
});

test.each<[string, (folder: string) => void, string]>([
  [
    'whose manifest is no JSON',
    (path) => writeFileSync(join(path, 'package.json'), '{'),
    'its package can not be read',
  ],
  [
    'whose command is a folder',
    (path) => writeFileSync(join(path, 'package.json'), '{"version":"1.0.0","bin":"."}'),
    'its package can not be read (EISDIR)',
  ],
])('a package %s is a reason of its connector and never of the daemon', (_, fill, incompatible) => {
  // A package may be named by where it is from the file that looks for it.
  const asked = join(import.meta.dirname, '../../src/host/sources');
  const path = folder();
  fill(path);
  expect(look({ id: 'a', kind: 'stdio', package: relative(asked, path) })).toMatchObject({
    incompatible,
    program: null,
  });
});

test.each([
  ['version', { version: 'x'.repeat(65) }],
  ['version with a space', { version: '1 0' }],
  ['digest', { version: '1', digest: 'x'.repeat(129) }],
  ['host version', { version: '1', minimumHostVersion: '9'.repeat(65) }],
])('a release whose %s no log could keep is refused before anything is opened', (_, release) => {
  const remote = { id: 'a', kind: 'remote', binding: { bindingRef: 'a' } };
  expect(connectorSchema.safeParse({ ...remote, version: '1' }).success).toBe(true);
  expect(connectorSchema.safeParse({ ...remote, ...release }).success).toBe(false);
});

test('a declared value is no part of the release’s digest, its name and the arguments are', () => {
  const digest = (env: Record<string, string>, args: string[] = []) =>
    look({ id: 'a', kind: 'stdio', command: '/bin/sh', env, args }).release.digest;
  expect(digest({ KEY: 'a' })).toBe(digest({ KEY: 'b' }));
  expect(new Set([digest({}), digest({ KEY: 'a' }), digest({}, ['x'])]).size).toBe(3);
});

test.each(['../../x', 'a%2fb', 'a?b', 'a#b', '', 'A', 'а', 'a/b', '-a', 'a_'])('%s names no connector', (id) => {
  const remote = { id, kind: 'remote', version: '1', binding: { bindingRef: 'a' } };
  expect(connectorSchema.safeParse(remote).success).toBe(false);
});

test.each(['http://example.com', 'https://u@h', 'https://h/?q', 'https://h/#f', 'ftp://h', 'http://127.0.0.1.evil'])(
  '%s is no base',
  (mcpUrl) => {
    expect(daemonConfigSchema.safeParse({ stateDir: '/x', hostVersion: '1', mcpUrl }).success).toBe(false);
  },
);
