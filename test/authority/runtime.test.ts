import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bindingSchema, demoSeed, type Seed } from '../../src/authority/index.ts';
import { endpoint, manyAccounts, ofType, openWorld, type Person, type World } from '../support/authority.ts';

const { bindings } = demoSeed({ everythingEndpoint: endpoint });
const careful: Seed = {
  accounts: manyAccounts(40),
  bindings: bindings.flatMap((binding) => {
    const versions = { connectorVersions: { from: '1.0.0', before: '2.0.0' } };
    const open = { ref: 'open.primary', connectorId: 'open', authorization: 'none', injection: { kind: 'none' } };
    return [
      bindingSchema.parse({ ...binding, ...versions, risk: { otherwise: 'LOW', tools: { erase: 'HIGH' } } }),
      bindingSchema.parse({ ...binding, ...versions, ...open }),
    ];
  }),
};

// One server for all, one account of its own for each test.
let world: World;
let one: Person;
let accounts = 0;
let nowMs = 1_800_000_000_000;
beforeAll(async () => {
  const free = { burst: 100_000, perSecond: 100_000 };
  world = await openWorld({ seed: careful, edge: { now: () => nowMs }, rates: { reads: free, writes: free } });
});
afterAll(() => world.close());
const somebody = () => world.signIn(`account-${++accounts}`);
beforeEach(async () => {
  one = await somebody();
});
const outside = (verb: string, body: object = {}) =>
  world.admin('POST', `/v1/accounts/${one.account}/connectors/everything/${verb}`, body);

const report = (callId: string, outcome: 'succeeded' | 'upstream_refused' | 'not_sent' | 'tool_error', result = '') =>
  world.rpc.audit({ callId, outcome, durationMs: 5, detail: 'http 401', result });
const authorized = async (changed: Parameters<Person['call']>[0] = {}) => {
  const answer = await one.call(changed);
  if (answer.outcome !== 'authorized') throw new Error(`not authorized but ${answer.outcome}`);
  return answer;
};

describe('no two reasons to say no look alike', () => {
  test('an unknown or expired session is unauthenticated', async () => {
    expect(
      (
        await world.rpc.callTool({
          token: 'A'.repeat(43),
          connectorId: 'everything',
          connectorVersion: '1.0.0',
          toolName: 'echo',
          argumentDigest: 'd',
        })
      ).outcome,
    ).toBe('unauthenticated');
    nowMs += 31 * 24 * 3_600_000;
    expect((await one.call()).outcome).toBe('unauthenticated');
  });

  test('a connector without binding and a release outside its range are rejected with their reasons', async () => {
    expect(await one.call({ connectorId: 'nowhere' })).toMatchObject({
      outcome: 'rejected',
      reason: 'unknown_connector',
    });
    expect(await one.call({ connectorVersion: '2.0.0' })).toMatchObject({
      outcome: 'rejected',
      reason: 'connector_version_unsupported',
    });
  });

  test('no connection and a connection that no longer holds are told apart', async () => {
    expect((await one.call()).outcome).toBe('authorization_required');
    await one.connect();
    await outside('expire');
    expect((await one.call()).outcome).toBe('reauth_required');
    expect((await one.list(true)).outcome).toBe('reauth_required');
  });
});

describe('what is authorized', () => {
  test('a probe says that it may, and hands out neither credential nor call', async () => {
    await one.connect();
    expect(await one.list(true)).toMatchObject({ outcome: 'authorized', upstream: null, callId: null });
  });

  test('a list and a call are given the upstream and the credential of their own account', async () => {
    const other = await somebody();
    await Promise.all([one.connect('secret-of-one'), other.connect('secret-of-other')]);
    expect(await one.list()).toMatchObject({ upstream: { endpoint, mode: 'legacy', credential: 'secret-of-one' } });
    expect(await other.call()).toMatchObject({
      upstream: { credential: 'secret-of-other' },
      principal: { principalName: other.account },
    });
  });

  test('a contract may be kept for exactly one account, connection version and binding revision', async () => {
    const scopes = new Set<string>();
    await one.connect();
    for (const change of [undefined, undefined, 'rotate']) {
      if (change !== undefined) await outside(change);
      scopes.add((await authorized()).upstream.contractScope);
    }
    expect(scopes.size).toBe(2);
  });
});

describe('a connector that asks for no authorization', () => {
  test('is given out to whoever is signed in, without a credential and with a contract of each account', async () => {
    const answers = await Promise.all([one, await somebody()].map((who) => who.call({ connectorId: 'open' })));
    const upstreams = answers.map((answer) => (answer.outcome === 'authorized' ? answer.upstream : undefined));
    expect(upstreams.map((upstream) => upstream?.credential)).toEqual(['', '']);
    expect(new Set(upstreams.map((upstream) => upstream?.contractScope)).size).toBe(2);
    const [first] = answers;
    // Nothing to renew: a refusal is recorded and marks no connection.
    expect(await report(first?.outcome === 'authorized' ? first.callId : '', 'upstream_refused')).toBe(true);
    expect((await one.call({ connectorId: 'open' })).outcome).toBe('authorized');
  });
});

describe('an upstream that refuses the credential', () => {
  test('turns that very connection version into one that must be renewed, with a hint', async () => {
    await one.connect();
    const channel = await one.hints();
    await channel.frame(ofType('connection.ready'));
    const { callId } = await authorized();
    expect(await report(callId, 'upstream_refused')).toBe(true);
    await channel.frame(ofType('connector.authorization.changed'));
    expect(await one.snapshot()).toMatchObject({
      revision: '2',
      connectors: [{ state: 'reauth_required', connectionVersion: '2' }],
    });
    await channel.end();
  });

  test('counts during a list as well', async () => {
    await one.connect();
    const answer = await one.list();
    await report(answer.outcome === 'authorized' ? (answer.callId ?? '') : '', 'upstream_refused');
    expect((await one.call()).outcome).toBe('reauth_required');
  });

  test('says nothing about a version that has been renewed since', async () => {
    await one.connect();
    const { callId } = await authorized();
    await one.connect('renewed');
    const before = await one.snapshot();
    expect(await report(callId, 'upstream_refused')).toBe(true);
    expect(await one.snapshot()).toEqual(before);
  });

  test('is counted once, however often it is reported', async () => {
    await one.connect();
    const { callId } = await authorized();
    expect([await report(callId, 'upstream_refused'), await report(callId, 'upstream_refused')]).toEqual([true, true]);
    await one.connect('renewed');
    await report(callId, 'upstream_refused');
    expect((await one.snapshot()).connectors[0]?.state).toBe('connected');
  });

  test('of a call that nobody made is not recorded', async () => {
    await one.connect();
    expect(await report('never-given-out', 'upstream_refused')).toBe(false);
    expect((await one.snapshot()).revision).toBe('1');
  });
});

describe('the same call again, by its key', () => {
  const idempotencyKey = 'key-1';
  beforeEach(() => one.connect());

  test('is made once, however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => one.call({ idempotencyKey })));
    const outcomes = answers.map((answer) => answer.outcome).sort();
    expect(outcomes.filter((outcome) => outcome === 'authorized')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['authorized', 'in_flight']));
  });

  test('is answered with how it ended', async () => {
    const { callId } = await authorized({ idempotencyKey });
    await report(callId, 'tool_error', '{"isError":true}');
    expect(await one.call({ idempotencyKey })).toEqual({
      outcome: 'replay',
      stored: { outcome: 'tool_error', detail: 'http 401', result: '{"isError":true}' },
    });
  });

  test('is made again only when it never reached the upstream', async () => {
    const { callId } = await authorized({ idempotencyKey });
    await report(callId, 'not_sent');
    expect((await authorized({ idempotencyKey })).callId).not.toBe(callId);
    expect((await one.call({ idempotencyKey })).outcome).toBe('in_flight');
  });

  test('is made again, with the new credential, when the earlier one was refused for the old one', async () => {
    const { callId } = await authorized({ idempotencyKey });
    await report(callId, 'upstream_refused');
    expect((await one.call({ idempotencyKey })).outcome).toBe('reauth_required');
    await one.connect('renewed');
    expect((await authorized({ idempotencyKey })).upstream.credential).toBe('renewed');
  });

  test('with other arguments or another tool is a conflict that tells nothing of the first', async () => {
    const { callId } = await authorized({ idempotencyKey });
    await report(callId, 'succeeded', '"earlier"');
    for (const changed of [{ argumentDigest: 'sha256:b' }, { toolName: 'add' }]) {
      const answer = await one.call({ idempotencyKey, ...changed });
      expect(answer).toMatchObject({ outcome: 'rejected', reason: 'idempotency_conflict' });
      expect(JSON.stringify(answer)).not.toContain('earlier');
    }
  });

  test('is not made again when nobody ever said how it ended', async () => {
    await authorized({ idempotencyKey });
    nowMs += 3_600_000;
    expect(await one.call({ idempotencyKey })).toMatchObject({
      outcome: 'replay',
      stored: { outcome: 'canceled', result: '' },
    });
  });

  test('is another call for another account', async () => {
    await authorized({ idempotencyKey });
    const other = await somebody();
    await other.connect();
    expect((await other.call({ idempotencyKey })).outcome).toBe('authorized');
  });
});

describe('a call with HIGH risk', () => {
  const erase = { toolName: 'erase', idempotencyKey: 'erase-1', definitionHash: 'h1' };
  const confirmations = () => `/v1/accounts/${one.account}/confirmations`;
  const answer = (id: string, verb: 'approve' | 'deny') =>
    world.admin('POST', `${confirmations()}/${id}/${verb}`, { by: 'a person' });
  const asked = async () => {
    const required = await one.call(erase);
    if (required.outcome !== 'confirm_required') throw new Error(`no confirmation but ${required.outcome}`);
    return required;
  };
  beforeEach(() => one.connect());

  test('needs a key by which it can be known again', async () => {
    expect(await one.call({ toolName: 'erase' })).toMatchObject({
      outcome: 'rejected',
      reason: 'idempotency_key_required',
    });
  });

  test('waits for a person, is asked for once, and says until when', async () => {
    const [first, second] = [await asked(), await asked()];
    expect(second.confirmId).toBe(first.confirmId);
    expect(first).toMatchObject({ risk: 'HIGH', expiresAtMs: nowMs + 300_000 });
    expect((await world.admin('GET', confirmations())).json.confirmations).toMatchObject([
      { id: first.confirmId, tool: 'erase' },
    ]);
  });

  test('is made exactly once after the approval', async () => {
    const { confirmId } = await asked();
    expect((await answer(confirmId, 'approve')).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 20 }, () => one.call({ ...erase, confirmId })));
    expect(answers.filter(({ outcome }) => outcome === 'authorized')).toHaveLength(1);
    expect((await answer(confirmId, 'approve')).json.code).toBe('confirmation_finished');
  });

  test.each([
    ['other arguments', { argumentDigest: 'sha256:b' }],
    ['another definition of the tool', { definitionHash: 'h2' }],
  ])('is not covered by an approval for %s', async (_name, changed) => {
    await answer((await asked()).confirmId, 'approve');
    expect(await one.call({ ...erase, ...changed })).toMatchObject({
      outcome: 'rejected',
      reason: 'confirmation_mismatch',
    });
  });

  test('is not covered by an approval for a connection that was replaced', async () => {
    await answer((await asked()).confirmId, 'approve');
    await one.connect('another');
    expect(await one.call(erase)).toMatchObject({ outcome: 'rejected', reason: 'confirmation_mismatch' });
  });

  test('is refused after a no', async () => {
    await answer((await asked()).confirmId, 'deny');
    expect(await one.call(erase)).toMatchObject({ outcome: 'rejected', reason: 'confirmation_denied' });
  });

  test('is asked for anew when the approval came too late, and the old name is void', async () => {
    const { confirmId } = await asked();
    await answer(confirmId, 'approve');
    nowMs += 300_001;
    expect(await one.call({ ...erase, confirmId })).toMatchObject({
      outcome: 'rejected',
      reason: 'confirmation_expired',
    });
    expect((await asked()).confirmId).not.toBe(confirmId);
  });

  test('can not be approved for another account', async () => {
    const { confirmId } = await asked();
    const tried = await world.admin(
      'POST',
      `/v1/accounts/${(await somebody()).account}/confirmations/${confirmId}/approve`,
      { by: 'somebody' },
    );
    expect(tried.json.code).toBe('confirmation_not_found');
  });
});
