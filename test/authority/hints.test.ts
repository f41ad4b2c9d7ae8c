import { afterAll, beforeAll, expect, test } from 'vitest';
import { ofType, openChannel, openWorld, type Person, type World } from '../support/authority.ts';

let world: World;
let ann: Person;
let bob: Person;
beforeAll(async () => {
  world = await openWorld();
  ann = await world.signIn('ann');
  bob = await world.signIn('bob');
});
afterAll(() => world.close());

const changed = ofType('connector.authorization.changed');

test('a channel is ready as soon as it has greeted, with a generation of its own', async () => {
  const [first, second] = [await ann.hints(), await ann.hints()];
  const [a, b] = [await first.frame(ofType('connection.ready')), await second.frame(ofType('connection.ready'))];
  expect(a).toMatchObject({ protocol_version: 2, payload: { connectionGeneration: expect.any(String) as unknown } });
  expect(a['payload']).not.toEqual(b['payload']);
  await Promise.all([first.end(), second.end()]);
});

test('a change is told to every channel of its account once it can be read, and to no other account', async () => {
  const [one, two, other] = [await ann.hints(), await ann.hints(), await bob.hints()];
  await Promise.all([one, two, other].map((channel) => channel.frame(ofType('connection.ready'))));
  await ann.connect();
  const frame = await one.frame(changed);
  expect(frame).toMatchObject({
    payload: { connectorId: 'everything' },
    delivery: { scope: 'user', user_id: 'ann', device_id: 'device-1' },
  });
  expect((await ann.snapshot()).revision).toBe((frame['payload'] as unknown as { revision: string }).revision);
  await two.frame(changed);
  await bob.connect();
  const heard = await other.frame(changed);
  expect(heard['delivery']).toMatchObject({ user_id: 'bob' });
  expect(other.frames.filter(changed)).toHaveLength(1);
  await Promise.all([one, two, other].map((channel) => channel.end()));
});

test('a heartbeat is answered with its own time', async () => {
  const channel = await ann.hints();
  channel.say(JSON.stringify({ action: 'ping', data: { ts: 42 } }));
  expect((await channel.frame(ofType('pong')))['payload']).toEqual({ ts: 42 });
  await channel.end();
});

test.each(['{', '[]', '{"action":"shutdown"}', '{"action":"connection.initialize","data":{"protocolVersion":1}}'])(
  'what is no frame of the channel ends it and nothing else: %s',
  async (text) => {
    const [spoilt, sound] = [await ann.hints(), await ann.hints()];
    spoilt.say(text);
    expect(await spoilt.closed).toBe(4400);
    sound.say(JSON.stringify({ action: 'ping', data: { ts: 1 } }));
    await sound.frame(ofType('pong'));
    await sound.end();
  },
);

test('a frame beyond its bound ends the channel', async () => {
  const channel = await ann.hints();
  channel.say(JSON.stringify({ action: 'init', data: { deviceId: 'x'.repeat(20_000) } }));
  expect(await channel.closed).toBe(1009);
});

test('nobody without a session, and no web page, gets a channel', async () => {
  const { wsUrl } = world.authority;
  await expect(openChannel(wsUrl, {})).rejects.toThrow('status 401');
  await expect(openChannel(wsUrl, { cookie: ann.cookie, origin: 'https://evil.example' })).rejects.toThrow(
    'status 403',
  );
  await expect(openChannel(wsUrl.replace('/hints', '/other'), { cookie: ann.cookie })).rejects.toThrow('status 404');
});

test('signing out ends the channels of the account', async () => {
  const guest = await world.signIn('bob');
  const channel = await guest.hints();
  await channel.frame(ofType('connection.ready'));
  await world.admin('DELETE', '/v1/accounts/bob/sessions');
  expect(await channel.closed).toBe(4401);
});
