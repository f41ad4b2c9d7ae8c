import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { demoSeed } from '../../src/authority/index.ts';
import { changeSettings, FIRST_KEY, runBusinessServer } from '../../src/demo/index.ts';
import type { DemoServer } from '../../src/demo/index.ts';
import { openGateway } from '../../src/gateway/index.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { openWorld } from '../support/authority.ts';
import type { Person, World } from '../support/authority.ts';
import { ask, callOf } from '../support/gateway.ts';
import type { Told } from '../support/gateway.ts';

let world: World;
let business: DemoServer;
let gateway: Gateway;
const directory = mkdtempSync(join(tmpdir(), 'dacapo-'));

beforeAll(async () => {
  business = await runBusinessServer({ directory });
  world = await openWorld({ seed: demoSeed({ everythingEndpoint: business.url }) });
  gateway = await openGateway({ authority: world.rpc });
});
afterAll(async () => {
  await gateway.close();
  await world.close();
  await business.close();
  rmSync(directory, { recursive: true, force: true });
});

const as = ({ cookie }: Person, question: Parameters<typeof ask>[1] = {}): Promise<Told> =>
  ask(`${gateway.url}/v1/connectors/everything/mcp`, {
    ...question,
    headers: { ...question.headers, authorization: undefined, cookie },
  });

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
};
const stateOf = async (person: Person): Promise<string | undefined> =>
  (await person.snapshot()).connectors.find(({ connectorId }) => connectorId === 'everything')?.state;

describe('gateway, authority over gRPC and the business server', () => {
  test('let an account in once it has connected, and nobody else', async () => {
    const [ann, bob] = [await world.signIn('ann'), await world.signIn('bob')];
    expect(await as(ann)).toMatchObject({ status: 428, message: { error: { code: -33001 } } });
    await ann.connect(FIRST_KEY);
    expect((await as(ann, { method: 'server/discover' })).message.result).toMatchObject({
      capabilities: { tools: {} },
    });
    expect((await as(ann)).text).toContain('"name":"echo"');
    expect((await as(ann, callOf('echo', { message: 'hi' }))).text).toContain('Echo: hi');
    expect((await as(bob, callOf('echo', { message: 'hi' }))).message.error?.code).toBe(-33001);
  });

  test('answer a repeated idempotency key with the first result, and call once', async () => {
    const ann = await world.signIn('ann');
    await ann.connect(FIRST_KEY);
    const again = callOf('get-sum', { a: 1, b: 2 }, { headers: { 'idempotency-key': 'k-1' } });
    const first = await as(ann, again);
    await until(async () => gateway.audit.waiting === 0);
    expect((await as(ann, again)).text).toBe(first.text);
    const other = await as(ann, callOf('get-sum', { a: 1, b: 3 }, { headers: { 'idempotency-key': 'k-1' } }));
    expect(other.message.error).toMatchObject({ code: -32602, data: { reason: 'idempotency_conflict' } });
  });

  test('withdraw a connection whose key the business server refuses, with a new revision, until it is connected anew', async () => {
    const ann = await world.signIn('ann');
    await ann.connect(FIRST_KEY);
    const before = await ann.snapshot();
    await changeSettings(directory, 'business', { acceptedKey: 'rotated' });
    expect(await as(ann, callOf('echo', { message: 'a' }))).toMatchObject({
      status: 428,
      message: { error: { code: -33002 } },
    });
    await until(async () => (await stateOf(ann)) !== 'connected');
    expect(await stateOf(ann)).toBe('reauth_required');
    expect(BigInt((await ann.snapshot()).revision)).toBeGreaterThan(BigInt(before.revision));
    await ann.connect('rotated');
    expect((await as(ann, callOf('echo', { message: 'b' }))).status).toBe(200);
    await changeSettings(directory, 'business', { acceptedKey: FIRST_KEY });
  });

  test('say nothing to a session that was ended', async () => {
    const bob = await world.signIn('bob');
    await world.admin('DELETE', '/v1/accounts/bob/sessions');
    const told = await as(bob);
    expect([told.status, told.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  test('never tell a caller the key, the address, the connection or the binding', async () => {
    const ann = await world.signIn('ann');
    await ann.connect(FIRST_KEY);
    const { connectors } = await ann.snapshot();
    const told = [
      await as(ann, { method: 'server/discover' }),
      await as(ann),
      await as(ann, callOf('echo', { message: FIRST_KEY })),
      await as(ann, callOf('none')),
    ];
    const words = [FIRST_KEY, new URL(business.url).host, String(connectors[0]?.connectionId), 'everything.primary'];
    expect(words.filter((word) => JSON.stringify(told).includes(word))).toEqual([]);
  });
});
