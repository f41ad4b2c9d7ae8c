import { fork } from 'node:child_process';
import { mkdtempSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { demoSeed, emptySeed, openAuthority } from '../../src/authority/index.ts';
import { adminToken, openWorld } from '../support/authority.ts';

test('the same state directory brings back accounts, sessions, connections, counters and keys', async () => {
  const first = await openWorld();
  const ann = await first.signIn('ann');
  await ann.connect('kept');
  const [before, accounts] = [await ann.snapshot(), (await first.admin('GET', '/v1/accounts')).json];
  const controlAddress = first.authority.controlUrl.replace('http://', '');
  await first.close('keep');
  const second = await openWorld({ stateDir: first.stateDir, controlAddress });
  expect(await ann.snapshot()).toEqual(before);
  expect((await second.admin('GET', '/v1/accounts')).json).toEqual(accounts);
  const call = {
    token: ann.token,
    connectorId: 'everything',
    connectorVersion: '1.0.0',
    toolName: 'echo',
    argumentDigest: 'd',
  };
  expect(await second.rpc.callTool(call)).toMatchObject({ upstream: { credential: 'kept' } });
  await second.close();
});

/** Kills an authority that is busy with changes, and answers what it answered last before. */
const killed = async (stateDir: string): Promise<{ revision: string; token: string }> => {
  const script = join(import.meta.dirname, '../support/authorityChild.ts');
  const child = fork(script, [stateDir], { execArgv: ['--import', 'tsx'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    return await new Promise((resolve, reject) => {
      child.once('message', (message) => resolve(message as never));
      child.once('exit', (code) => reject(new Error(`the child ended with ${code}`)));
    });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
};

test('a killed authority leaves a store that opens again with all that it answered', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'dacapo-authority-'));
  const { revision, token } = await killed(stateDir);
  const world = await openWorld({ stateDir });
  const { json } = await world.admin('GET', '/v1/accounts/ann/snapshot');
  expect(BigInt(json.revision) >= BigInt(revision)).toBe(true);
  expect(json.connectors[0].connectionVersion).toBe(json.revision);
  const call = { connectorId: 'everything', connectorVersion: '1.0.0', toolName: 'echo', argumentDigest: 'd' };
  expect((await world.rpc.callTool({ ...call, token })).outcome).toBe('authorized');
  await world.close();
}, 90_000);

test('two authorities never count in one store', async () => {
  const world = await openWorld();
  const second = openWorld({ stateDir: world.stateDir, rpcAddress: `unix:${join(world.stateDir, 'other.sock')}` });
  await expect(second).rejects.toMatchObject({ name: 'StoreRefused', reason: 'in-use' });
  expect((await (await world.signIn('ann')).list(true)).outcome).toBe('authorization_required');
  await world.close();
});

test('a store of a newer release is refused and left as it is', async () => {
  const world = await openWorld();
  await world.close('keep');
  const path = join(world.stateDir, 'authority.sqlite');
  const database = new Database(path);
  database.exec("insert into kysely_migration values ('999', '2030-01-01')");
  database.close();
  await expect(openWorld({ stateDir: world.stateDir })).rejects.toMatchObject({
    name: 'StoreRefused',
    reason: 'newer',
  });
  await rm(world.stateDir, { recursive: true });
});

test('a damaged store is refused with what to do', async () => {
  const world = await openWorld();
  await world.close('keep');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(world.stateDir, 'authority.sqlite'), Buffer.alloc(8192, 7));
  await expect(openWorld({ stateDir: world.stateDir })).rejects.toMatchObject({
    name: 'StoreRefused',
    reason: 'damaged',
  });
  await rm(world.stateDir, { recursive: true });
});

test('an upstream that moved is a new published binding; the old one stays as it was', async () => {
  const world = await openWorld();
  const ann = await world.signIn('ann');
  await ann.connect();
  await world.close('keep');
  const seed = demoSeed({ everythingEndpoint: 'http://127.0.0.1:10/mcp' });
  const moved = await openWorld({ stateDir: world.stateDir, seed });
  expect(await (await moved.signIn('ann')).list()).toMatchObject({ upstream: { endpoint: 'http://127.0.0.1:10/mcp' } });
  expect((await moved.admin('GET', '/v1/accounts/ann/snapshot')).json.revision).toBe('1');
  await moved.close('keep');
  const database = new Database(join(world.stateDir, 'authority.sqlite'));
  expect(database.prepare('select revision, status from bindings').all()).toEqual([
    { revision: 1, status: 'published' },
    { revision: 2, status: 'published' },
  ]);
  expect(() => database.exec("update bindings set content = '{}'")).toThrow('never changes');
  expect(() => database.exec('delete from bindings')).toThrow('never deleted');
  expect(() => database.exec('update authorizations set version = version - 1')).toThrow('never goes back');
  expect(() => database.exec('update accounts set revision = revision - 1')).toThrow('never goes back');
  database.close();
  await rm(world.stateDir, { recursive: true });
});

test('everything it keeps can be read by its own user alone', async () => {
  const world = await openWorld();
  const mode = (name: string) => (statSync(join(world.stateDir, name)).mode & 0o777).toString(8);
  expect(['.', 'authority.sqlite', 'authority.sqlite-wal', 'kek', 'authority.sock'].map(mode)).toEqual([
    '700',
    '600',
    '600',
    '600',
    '600',
  ]);
  await world.close();
});

test('closing twice is closing once, and both doors are gone', async () => {
  const world = await openWorld();
  const { controlUrl, close } = world.authority;
  await Promise.all([close(), close()]);
  await close();
  await expect(fetch(`${controlUrl}/v1/health`)).rejects.toThrow('fetch failed');
  await world.close();
});

test('what must not be listened on stops the start, and leaves nothing open that hinders the next', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'dacapo-authority-'));
  const asked = { stateDir, adminToken, seed: emptySeed, log: () => undefined };
  const refused = [
    [{ adminToken: 'short' }, 'at least 32'],
    [{ controlAddress: '0.0.0.0:0' }, 'no loopback address'],
    [{ adminAddress: '192.168.1.1:80' }, 'no loopback address'],
    [{ rpcAddress: '127.0.0.1:0' }, 'needs a shared secret'],
    [{ rpcAddress: `unix:/tmp/${'x'.repeat(120)}.sock` }, 'choose a shorter'],
  ] as const;
  for (const [options, said] of refused) await expect(openAuthority({ ...asked, ...options })).rejects.toThrow(said);
  await (await openAuthority(asked)).close();
  await rm(stateDir, { recursive: true });
});

test('a state directory with a long path gets its socket in a private directory', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'dacapo-authority-'));
  const world = await openWorld({ stateDir: join(parent, 'x'.repeat(110)) });
  const { rpcAddress } = world.authority;
  expect(rpcAddress.length).toBeLessThan(100);
  expect((await (await world.signIn('ann')).list(true)).outcome).toBe('authorization_required');
  await world.close();
  await rm(parent, { recursive: true });
  await rm(dirname(rpcAddress.slice('unix:'.length)), { recursive: true });
});
