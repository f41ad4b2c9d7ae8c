import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { demoSeed } from '../../src/authority/index.ts';
import { endpoint, manyAccounts, openWorld, type Person, type Snapshot, type World } from '../support/authority.ts';

// One server for all, one account of its own for each test.
let world: World;
let one: Person;
let accounts = 0;
const free = { burst: 100_000, perSecond: 100_000 };
beforeAll(async () => {
  const { bindings } = demoSeed({ everythingEndpoint: endpoint });
  world = await openWorld({ seed: { accounts: manyAccounts(20), bindings }, rates: { reads: free, writes: free } });
});
afterAll(() => world.close());
const somebody = () => world.signIn(`account-${++accounts}`);
beforeEach(async () => {
  one = await somebody();
});

const counters = ({ revision, connectors }: Snapshot) => [
  revision,
  connectors[0]?.connectionVersion,
  connectors[0]?.state,
];
const everything = (verb: string, body: object = {}) =>
  world.admin('POST', `/v1/accounts/${one.account}/connectors/everything/${verb}`, body);
const drop = () => one.control('DELETE', '/v1/connectors/everything/authorization');

test('each change raises the revision and the connection version together, once', async () => {
  await one.connect();
  expect(counters(await one.snapshot())).toEqual(['1', '1', 'connected']);
  await everything('rotate');
  expect(counters(await one.snapshot())).toEqual(['2', '2', 'connected']);
  await everything('expire');
  expect(counters(await one.snapshot())).toEqual(['3', '3', 'reauth_required']);
  await everything('rotate', { secret: 'new' });
  expect(counters(await one.snapshot())).toEqual(['4', '4', 'connected']);
  await everything('revoke');
  expect(counters(await one.snapshot())).toEqual(['5', '5', 'disconnected']);
});

test('a change that changes nothing raises nothing', async () => {
  await one.connect();
  await everything('expire');
  const before = await one.snapshot();
  expect((await everything('expire')).json.changed).toBe(false);
  expect(await one.snapshot()).toEqual(before);
  await drop();
  expect((await drop()).json.revision).toBe('3');
});

test('disconnecting answers the revision at which it is visible', async () => {
  await one.connect();
  const { json } = await drop();
  expect(json.revision).toBe((await one.snapshot()).revision);
});

test('a connection version never goes back over disconnect and reconnect', async () => {
  const seen: string[] = [];
  for (let i = 0; i < 3; i++) {
    await one.connect();
    seen.push((await one.snapshot()).connectors[0]?.connectionVersion ?? '');
    await drop();
  }
  expect(seen).toEqual(['1', '3', '5']);
});

test('connecting anew takes the place of the connection before and gets another id', async () => {
  const first = (await one.connect()).json.session.resultConnectionId as string;
  const second = (await one.connect()).json.session.resultConnectionId as string;
  expect(second).not.toBe(first);
  const { json } = await world.admin('GET', `/v1/accounts/${one.account}/connectors/everything/connections`);
  expect(json.connections.map((one: { id: string }) => one.id)).toEqual([second]);
});

test('another default connection is a change of the version and of the credential', async () => {
  await one.connect('first');
  const { json } = await everything('connections', { secret: 'second', connectorVersion: '1.0.0' });
  expect(counters(await one.snapshot())).toEqual(['1', '1', 'connected']);
  await everything('default', json);
  const after = await one.snapshot();
  expect(counters(after)).toEqual(['2', '2', 'connected']);
  expect(after.connectors[0]?.connectionId).toBe(json.connectionId);
  expect(await one.list()).toMatchObject({ upstream: { credential: 'second' } });
});

test('one account never moves the counters of another', async () => {
  const other = await somebody();
  await other.connect();
  await one.connect();
  await everything('rotate');
  expect(counters(await other.snapshot())).toEqual(['1', '1', 'connected']);
});

test('whoever reads while others change never sees half a change', async () => {
  await one.connect();
  const changing = (async () => {
    for (let i = 0; i < 40; i++) await everything(i % 2 === 0 ? 'expire' : 'rotate');
  })();
  const seen = new Map<string, string>();
  let last = 0n;
  for (let i = 0; i < 60; i++) {
    const { revision, connectors } = await one.snapshot();
    expect(BigInt(revision) >= last).toBe(true);
    last = BigInt(revision);
    const content = JSON.stringify(connectors);
    expect(seen.get(revision) ?? content).toBe(content);
    seen.set(revision, content);
    // One connector, one counter: with every change in one transaction both are always equal.
    expect(connectors[0]?.connectionVersion).toBe(revision);
  }
  await changing;
  expect(seen.size).toBeGreaterThan(3);
});

test('a server restored by hand says so with a greater epoch', async () => {
  const { serverEpoch } = await one.snapshot();
  const { json } = await world.admin('POST', '/v1/server/restored', {});
  expect(BigInt(json.serverEpoch) > BigInt(serverEpoch)).toBe(true);
  expect((await one.snapshot()).serverEpoch).toBe(json.serverEpoch);
});
