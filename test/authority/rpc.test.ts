import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuthorityClient } from '../../src/gateway/authorityClient.ts';
import { Ending } from '../../src/protocol/stop.ts';
import { openWorld, type World } from '../support/authority.ts';

const rpcSecret = 'a-secret-between-two-processes-0123456789';
const probe = { token: 'A'.repeat(43), connectorId: 'everything', connectorVersion: '1.0.0', probe: true };

let world: World;
beforeAll(async () => {
  world = await openWorld({ rpcAddress: '127.0.0.1:0', rpcSecret });
});
afterAll(() => world.close());

const asked = async (
  options: Parameters<typeof openAuthorityClient>[0],
  ask: Parameters<World['rpc']['listTools']>[1] = {},
) => {
  const client = openAuthorityClient(options);
  const answer = await client.listTools(probe, ask);
  client.close();
  return answer.outcome;
};

describe('a port on loopback', () => {
  test('answers a peer that knows the secret', async () => {
    expect(await asked({ address: world.authority.rpcAddress, peerSecret: rpcSecret })).toBe('unauthenticated');
  });

  test.each([undefined, '', 'wrong', `${rpcSecret}x`])(
    'answers nobody with %j, in words that are not about a person',
    async (peerSecret) => {
      const options = { address: world.authority.rpcAddress, ...(peerSecret !== undefined && { peerSecret }) };
      expect(await asked(options)).toBe('unavailable');
    },
  );
});

describe('an authority that does not answer is unavailable, never a missing authorization', () => {
  test('when nothing listens', async () => {
    expect(await asked({ address: '127.0.0.1:9' })).toBe('unavailable');
    expect(await asked({ address: 'unix:/tmp/dacapo-nobody-here.sock' })).toBe('unavailable');
  });

  test('when it takes longer than the deadline', async () => {
    const held = new Set<Socket>();
    const silent = createServer((socket) => held.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    expect(await asked({ address, deadlineMs: 200 })).toBe('unavailable');
    held.forEach((socket) => socket.destroy());
    await new Promise((resolve) => silent.close(resolve));
  });

  test('when the question is given up, before or while it is asked', async () => {
    const address = world.authority.rpcAddress;
    const [before, meanwhile] = [new Ending(), new Ending()];
    before.end(new Error('enough'));
    expect(await asked({ address, peerSecret: rpcSecret }, { stop: before })).toBe('unavailable');
    setImmediate(() => meanwhile.end(new Error('enough')));
    expect(await asked({ address: '127.0.0.1:9', deadlineMs: 5000 }, { stop: meanwhile })).toBe('unavailable');
  });

  test('and an outcome that could not be told is told as not recorded', async () => {
    const client = openAuthorityClient({ address: '127.0.0.1:9' });
    expect(await client.audit({ callId: 'x', outcome: 'succeeded', durationMs: 1 })).toBe(false);
    client.close();
  });
});

test('a client finds the authority again after it was restarted', async () => {
  const first = await openWorld();
  const ann = await first.signIn('ann');
  const client = openAuthorityClient({ address: first.authority.rpcAddress, deadlineMs: 10_000 });
  const ask = () => client.listTools({ ...probe, token: ann.token });
  expect((await ask()).outcome).toBe('authorization_required');
  await first.close('keep');
  expect((await ask()).outcome).toBe('unavailable');
  const second = await openWorld({ stateDir: first.stateDir });
  const answers: string[] = [];
  for (let i = 0; i < 50 && answers.at(-1) !== 'authorization_required'; i++) {
    answers.push((await ask()).outcome);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(answers.at(-1)).toBe('authorization_required');
  client.close();
  await second.close();
});
