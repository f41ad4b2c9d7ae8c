import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminToken, openWorld, send, type Person, type World } from '../support/authority.ts';

let world: World;
let ann: Person;
let bob: Person;
beforeAll(async () => {
  world = await openWorld({
    rates: { reads: { burst: 1000, perSecond: 1000 }, writes: { burst: 1000, perSecond: 1000 } },
  });
  ann = await world.signIn('ann');
  bob = await world.signIn('bob');
});
afterAll(() => world.close());

const start = (who: Person, body: unknown, connector = 'everything') =>
  who.control('POST', `/v1/connectors/${connector}/authorization-sessions`, body);
const request = (clientRequestId: string, more: object = {}) => ({
  clientRequestId,
  connectorVersion: '1.0.0',
  ...more,
});
const replacementPolicy = 'CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE';
const sessionPath = (id: string) => `/v1/connector-authorization-sessions/${id}`;

describe('an authorization session', () => {
  test('starts waiting for the secret and echoes the release', async () => {
    const { status, json } = await start(ann, request('one'));
    expect(status).toBe(200);
    expect(json.session).toMatchObject({
      status: 'AWAITING_USER',
      connectorRevision: '1.0.0',
      nextAction: { type: 'submit_secret' },
    });
  });

  test('is the same one for the same client request', async () => {
    const [first, second] = [await start(ann, request('one')), await start(ann, request('one'))];
    expect(second.json.session.sessionId).toBe(first.json.session.sessionId);
  });

  test('refuses the same client request for another release', async () => {
    const { status, json } = await start(ann, { clientRequestId: 'one', connectorVersion: '2.0.0' });
    expect([status, json.code]).toEqual([409, 'request_reused']);
  });

  test('refuses a second one beside an open one, and takes its place when told to', async () => {
    const refused = await start(ann, request('two'));
    expect([refused.status, refused.json.code]).toEqual([409, 'session_active']);
    const first = await start(ann, request('one'));
    await start(ann, request('three', { replacementPolicy }));
    const replaced = await ann.control('GET', sessionPath(first.json.session.sessionId));
    expect(replaced.json.session).toMatchObject({ status: 'CANCELED', errorCode: 'session_replaced' });
  });

  test('connects when it is completed, exactly once', async () => {
    const { json } = await start(ann, request('four', { replacementPolicy }));
    const path = `${sessionPath(json.session.sessionId)}/complete`;
    const done = await ann.control('POST', path, { secret: { secret: 'ann-secret' } });
    expect(done.json.session).toMatchObject({ status: 'SUCCEEDED', sessionId: json.session.sessionId });
    const snapshot = await ann.snapshot();
    expect(snapshot.connectors[0]).toMatchObject({
      state: 'connected',
      connectionId: done.json.session.resultConnectionId,
    });
    const again = await ann.control('POST', path, { secret: { secret: 'other' } });
    expect([again.status, again.json.code]).toEqual([409, 'session_finished']);
    expect(await ann.snapshot()).toEqual(snapshot);
  });

  test('is canceled once, and a canceled one connects nothing', async () => {
    const { json } = await start(bob, request('one'));
    const path = sessionPath(json.session.sessionId);
    expect((await bob.control('DELETE', path)).json.session.status).toBe('CANCELED');
    expect((await bob.control('DELETE', path)).json.session.status).toBe('CANCELED');
    expect((await bob.control('POST', `${path}/complete`, { secret: { secret: 'x' } })).status).toBe(409);
    expect((await bob.snapshot()).connectors).toEqual([]);
  });

  test('of somebody else does not exist, whatever is tried with it', async () => {
    const { json } = await start(ann, request('five', { replacementPolicy }));
    const path = sessionPath(json.session.sessionId);
    const tried = [
      await bob.control('GET', path),
      await bob.control('DELETE', path),
      await bob.control('POST', `${path}/complete`, { secret: { secret: 'x' } }),
    ];
    expect(tried.map(({ status, json: body }) => [status, body.code])).toEqual(
      Array(3).fill([404, 'session_not_found']),
    );
    expect((await ann.control('GET', path)).json.session.status).toBe('AWAITING_USER');
  });

  test('refuses a connector without a published binding', async () => {
    const { status, json } = await start(ann, request('six'), 'nowhere');
    expect([status, json.code]).toEqual([404, 'connector_not_found']);
  });

  test('refuses a release whose version cannot be read', async () => {
    const { status, json } = await start(ann, { clientRequestId: 'seven', connectorVersion: 'newest' });
    expect([status, json.code]).toEqual([409, 'connector_version_unsupported']);
  });
});

describe('bad input', () => {
  const path = '/v1/connectors/everything/authorization-sessions';
  const raw = (body: string, type = 'application/json') =>
    send('POST', `${world.authority.controlUrl}${path}`, { cookie: ann.cookie, 'content-type': type }, body);

  test.each([
    ['no JSON', '{"clientRequestId":', 400, 'malformed'],
    ['a member twice', '{"clientRequestId":"a","clientRequestId":"b","connectorVersion":"1.0.0"}', 400, 'malformed'],
    ['an array', '[]', 400, 'malformed'],
    ['a member that is missing', '{"clientRequestId":"a"}', 400, 'malformed'],
    [
      'an unknown policy',
      '{"clientRequestId":"a","connectorVersion":"1.0.0","replacementPolicy":"X"}',
      400,
      'malformed',
    ],
    ['a body without end', `{"clientRequestId":"${'a'.repeat(200_000)}"}`, 413, 'too_large'],
  ])('is refused with its own code: %s', async (_name, body, status, code) => {
    const answer = await raw(body);
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([status, code, false]);
  });

  test('is refused when it is not sent as JSON', async () => {
    expect((await raw('{}', 'text/plain')).json.code).toBe('media_type');
  });

  test('never has its secret repeated', async () => {
    const { json } = await start(bob, request('secret'));
    const complete = `${sessionPath(json.session.sessionId)}/complete`;
    for (const secret of ['canary\r\nX-Evil: 1', 'canary'.repeat(10_000), '']) {
      const answer = await bob.control('POST', complete, { secret: { secret } });
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain('canary');
    }
    await bob.control('DELETE', sessionPath(json.session.sessionId));
  });

  test.each(['__proto__', 'constructor', '%2e%2e%2fadmin', 'a%00b', '%E0%A4%A'])(
    'in the place of a connector finds nothing: %s',
    async (connector) => {
      const { status } = await start(ann, request('path'), connector);
      expect([400, 404]).toContain(status);
      expect((await ann.control('DELETE', `/v1/connectors/${connector}/authorization`)).status).toBeLessThan(500);
    },
  );
});

describe('who asks', () => {
  const snapshot = (headers: Record<string, string>) =>
    send('GET', `${world.authority.controlUrl}/v1/connector-authorizations/snapshot`, headers);

  test('may say so by cookie or bearer', async () => {
    expect((await snapshot({ cookie: `other=1; ${ann.cookie}` })).json.accountId).toBe('ann');
    expect((await snapshot({ authorization: `Bearer ${bob.token}` })).json.accountId).toBe('bob');
  });

  test.each([
    ['nothing', {}],
    ['an unknown token', { authorization: `Bearer ${'A'.repeat(43)}` }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['the admin token', { authorization: `Bearer ${adminToken}` }],
  ])('is not known by %s, and is told in the same words', async (_name, headers) => {
    const { status, json, headers: answered } = await snapshot(headers as Record<string, string>);
    expect([status, json.code, answered['www-authenticate']]).toEqual([401, 'unauthenticated', 'Bearer']);
  });

  test('must not name two accounts at once', async () => {
    expect((await snapshot({ cookie: ann.cookie, authorization: `Bearer ${bob.token}` })).status).toBe(401);
    expect((await snapshot({ cookie: `${ann.cookie}; ${bob.cookie}` })).status).toBe(401);
  });

  test('is refused from a web page', async () => {
    const { status, json, headers } = await snapshot({ cookie: ann.cookie, origin: 'http://127.0.0.1:1234' });
    expect([status, json.code, headers['access-control-allow-origin']]).toEqual([403, 'origin_refused', undefined]);
  });

  test('is no longer known once the account is signed out', async () => {
    const old = await world.signIn('bob');
    await world.admin('DELETE', '/v1/accounts/bob/sessions');
    expect((await old.control('GET', '/v1/connector-authorizations/snapshot')).status).toBe(401);
    expect((await old.list()).outcome).toBe('unauthenticated');
    bob = await world.signIn('bob');
  });
});

test('an account that asks too often is told how long to wait, and hinders no other', async () => {
  const small = await openWorld({ rates: { writes: { burst: 3, perSecond: 0.001 } } });
  const [eager, calm] = [await small.signIn('ann'), await small.signIn('bob')];
  const path = '/v1/connectors/everything/authorization';
  for (let i = 0; i < 3; i++) expect((await eager.control('DELETE', path)).status).toBe(200);
  const limited = await eager.control('DELETE', path);
  expect([limited.status, limited.json.code, limited.json.retryable]).toEqual([429, 'rate_limited', true]);
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
  expect((await calm.control('DELETE', path)).status).toBe(200);
  await small.close();
});

describe('the operator', () => {
  test.each(['', 'Bearer ', 'Bearer wrong', `Bearer ${adminToken}x`, adminToken])(
    'is not let in with %j',
    async (authorization) => {
      const { status } = await send('GET', `${world.authority.adminUrl}/v1/accounts`, { authorization });
      expect(status).toBe(401);
    },
  );

  test('sees who there is, and nobody else is', async () => {
    const { json } = await world.admin('GET', '/v1/accounts');
    expect(json.accounts.map((account: { id: string }) => account.id)).toEqual(['ann', 'bob']);
  });

  test('is told when an account or connection does not exist', async () => {
    const unknown = await world.admin('POST', '/v1/accounts/eve/connectors/everything/revoke', {});
    expect([unknown.status, unknown.json.code]).toEqual([404, 'account_not_found']);
    const unconnected = await world.admin('POST', '/v1/accounts/bob/connectors/everything/rotate', {});
    expect([unconnected.status, unconnected.json.code]).toEqual([409, 'not_connected']);
  });

  test('can not make one account use the connection of another', async () => {
    const added = await world.admin('POST', '/v1/accounts/bob/connectors/everything/connections', {
      secret: 'b',
      connectorVersion: '1.0.0',
    });
    const path = '/v1/accounts/ann/connectors/everything/default';
    expect((await world.admin('POST', path, { connectionId: added.json.connectionId })).status).toBe(404);
  });
});
