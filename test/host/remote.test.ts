import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callControl, streamControl, type Daemon, type DaemonConfigInput } from '../../src/host/index.ts';
import { fixtureConnector, modern } from '../support/host/agent.ts';
import { hintFrame, readyFrame } from '../../src/protocol/index.ts';
import { controlServer, folder, json, login, type ControlServer } from '../support/host/controlServer.ts';
import { daemonWith, published } from '../support/host/daemons.ts';
import { gateway, rejection, type Gateway } from '../support/host/gateway.ts';

let control: ControlServer;
let door: Gateway;
let daemon: Daemon;
let sessions: string;
let snapshots: Record<string, unknown>;
const line = {
  connectorId: 'docs',
  connectorVersion: '1.0.0',
  state: 'connected',
  connectionId: 'c-1',
  connectionVersion: 1,
};

beforeEach(async () => {
  control = await controlServer();
  door = await gateway();
  const dir = folder();
  sessions = join(dir, '{account}.json');
  for (const account of ['ann', 'bob']) login(sessions.replace('{account}', account), account);
  snapshots = { 'sid=ann': { revision: 5, connectors: [line] }, 'sid=bob': { revision: 9, connectors: [] } };
  control.answer = (request, response) => json(snapshots[request.headers.cookie ?? ''] ?? {})(request, response);
});
afterEach(async () => {
  await daemon.close();
  await door.close();
  await control.close();
});

const docs = {
  ...{ id: 'docs', kind: 'remote' as const, version: '1.0.0' },
  binding: { bindingRef: 'docs.primary' },
};
async function start(more: Partial<DaemonConfigInput> = {}): Promise<void> {
  daemon = await daemonWith({
    connectors: [docs],
    controlUrl: control.url,
    mcpUrl: door.url,
    sessionFile: sessions,
    ...more,
  });
}
const use = (account: string) => callControl(daemon.controlSocket, 'account.use', { account });
const error = (text: string) =>
  (JSON.parse(text) as { error: { code: number; message: string; data?: unknown } }).error;
const logged = async (type: string) => {
  const found: { type: string; data: unknown; position: number }[] = [];
  for await (const row of streamControl(daemon.controlSocket, 'log.read')) found.push(row as never);
  return found.filter((row) => row.type === type);
};

test('an authorized connector is published, listed and called through the gateway in the account’s name', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  expect((await modern(daemon, 'tools/list')).text).toContain('"docs__search"');
  const { text } = await modern(daemon, 'tools/call', { name: 'docs__search', arguments: { q: 1 } });
  expect(text).toContain('search {\\"q\\":1}');
  expect(door.requests.map(({ method }) => method)).toEqual([
    'server/discover',
    'tools/list',
    'tools/list',
    'tools/list',
    'tools/call',
  ]);
  expect(new Set(door.requests.map(({ path, cookie }) => `${path} ${cookie}`))).toEqual(
    new Set(['/api/desktop/v1/connectors/docs/mcp sid=ann']),
  );
});

test('nothing is published before an account is signed in, nor after it signs out', async () => {
  await start({ connectors: [docs, fixtureConnector('local')] });
  await published(daemon, 'local');
  await use('ann');
  await published(daemon, 'docs', 'local');
  await callControl(daemon.controlSocket, 'account.signOut');
  await published(daemon, 'local');
  expect(error((await modern(daemon, 'tools/call', { name: 'docs__search' })).text).code).toBe(-33001);
});

test.each([
  ['a status without a body', { status: 428, body: 'no' }, 428, -33001],
  ['authorization_required', rejection(-33001), -33001, -33001],
  ['reauth_required in a good answer', rejection(-33002, 200), -33002, -33002],
])('a call that is refused by %s withdraws the route in the same turn', async (_, refusal, code, told) => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  door.refuse = ({ method }) => (method === 'tools/call' ? refusal : undefined);
  const { status, text } = await modern(daemon, 'tools/call', { name: 'docs__search' });
  expect([status, error(text).code]).toEqual([200, told]);
  expect([...daemon.reconciler.table.keys()]).toEqual([]);
  expect(await logged('call.rejected')).toMatchObject([{ data: { account: 'ann', code, stamp: { revision: '5' } } }]);
});

test('an activation that is refused ends in an outcome with code and stamp, and publishes nothing', async () => {
  door.refuse = () => rejection(-33002);
  await start();
  await use('ann');
  await expect.poll(() => logged('route.openFailed')).not.toEqual([]);
  const [outcome] = await logged('route.openFailed');
  expect(outcome?.data).toMatchObject({ reason: 'rejected', code: -33002, stamp: { revision: '5' } });
});

test('a switch of the account ends the calls in flight, and nothing of the old one is left', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  const hanging = modern(daemon, 'tools/call', { name: 'docs__hang' });
  await expect.poll(() => door.requests.at(-1)?.method).toBe('tools/call');
  await use('bob');
  expect(error((await hanging).text)).toMatchObject({ code: -33003, data: { outcomeUnknown: true } });
  expect((await modern(daemon, 'tools/list')).text).not.toContain('docs__');
  await expect.poll(() => door.abandoned).toEqual(['tools/call']);
});

test('a login that is of somebody else by now is not used', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  login(sessions.replace('{account}', 'ann'), 'bob');
  const before = door.requests.length;
  expect(error((await modern(daemon, 'tools/call', { name: 'docs__search' })).text).code).toBe(-33003);
  expect(door.requests.length).toBe(before);
});

test('the same authorization is probed anew but listed once in a process', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  await use('bob');
  await use('ann');
  await published(daemon, 'docs');
  expect(door.requests.map(({ method }) => method)).toEqual(['server/discover', 'tools/list', 'server/discover']);
});

test('a new version of the connection is another route with a fresh list', async () => {
  await start({ pollEveryMs: 100 });
  await use('ann');
  await published(daemon, 'docs');
  const [before] = daemon.reconciler.table.values();
  door.tools = ['found'];
  snapshots['sid=ann'] = { revision: 6, connectors: [{ ...line, connectionVersion: 2 }] };
  await expect.poll(() => [...daemon.reconciler.table.values()][0]?.connectionVersion, { timeout: 10_000 }).toBe('2');
  expect([...daemon.reconciler.table.values()][0]?.tools.digest).not.toBe(before?.tools.digest);
  expect((await modern(daemon, 'tools/list')).text).toContain('docs__found');
});

test('a hint makes it read, long before the poll', async () => {
  control.onSocket = (socket) => socket.send(readyFrame('1'));
  await start({ hintsUrl: control.hintsUrl });
  await use('ann');
  await published(daemon, 'docs');
  await expect.poll(() => callControl(daemon.controlSocket, 'status')).toMatchObject({ daemon: { hints: 'open' } });
  snapshots['sid=ann'] = { revision: 6, connectors: [] };
  control.sockets[0]?.send(
    hintFrame({ revision: '6', connector: 'docs', account: 'ann', deviceId: 'd', dispatchId: 'x' }),
  );
  await published(daemon);
});

test('with the gateway away the local tools stay and its own are told as missing', async () => {
  await start({ connectors: [docs, fixtureConnector('local')] });
  await use('ann');
  await published(daemon, 'docs', 'local');
  door.refuse = () => ({ status: 503, body: {} });
  const { text } = await modern(daemon, 'tools/list');
  expect(text).toContain('local__echo');
  expect(text).toContain('"missing":[{"connector":"docs","code":-33003');
});

test('a gateway that does not accept the session is told as that, whatever code it gives', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  door.refuse = () => ({
    status: 401,
    body: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'sign in' } },
  });
  const told = error((await modern(daemon, 'tools/call', { name: 'docs__search' })).text);
  expect(told).toMatchObject({ code: -33003, data: { accountSession: 'refused' } });
  expect(told.message).toContain('sign the account in again');
});

test('a read that failed is in the status until one succeeds, and is the account’s that asks', async () => {
  const working = control.answer;
  control.answer = json({}, 401);
  await start();
  await use('ann');
  const failed = () => daemon.reconciler.status().account?.failed;
  await expect.poll(failed).toMatchObject({ reason: 'session (401)', nextAttemptAt: expect.any(Number) as number });
  const call = async () => error((await modern(daemon, 'tools/call', { name: 'docs__search' })).text);
  expect(await call()).toMatchObject({ code: -33003, data: { accountSession: 'refused' } });
  control.answer = json({}, 503);
  await use('bob');
  await expect.poll(() => failed()?.reason).toBe('unavailable (503)');
  expect(await call()).toEqual({ code: -33003, message: expect.stringContaining('unavailable (503)') as string });
  control.answer = working;
  await use('ann');
  await published(daemon, 'docs');
  expect(failed()).toBeNull();
});

test('with the control plane away at the start the local tools are there and the account’s are not', async () => {
  await control.close();
  await start({ connectors: [docs, fixtureConnector('local')] });
  await use('ann');
  await published(daemon, 'local');
  await expect.poll(() => logged('snapshot.failed')).toMatchObject([{ data: { reason: 'unreachable' } }]);
});

test('connecting with a secret makes the core read, and the secret stays out of the log', async () => {
  snapshots['sid=ann'] = { revision: 5, connectors: [] };
  await start();
  await use('ann');
  const session = {
    sessionId: 's-1',
    connectorRevision: '1.0.0',
    status: 'AWAITING_USER',
    nextAction: { type: 'submit_secret' },
  };
  const usual = control.answer;
  control.answer = (request, response, body) => {
    if (request.url?.endsWith('/authorization-sessions') === true) return json({ session })(request, response);
    if (request.url?.endsWith('/complete') !== true) return usual(request, response, body);
    snapshots['sid=ann'] = { revision: 6, connectors: [line] };
    json({ session: { ...session, status: 'SUCCEEDED', resultConnectionId: 'c-1' } })(request, response);
  };
  const ended = await callControl(daemon.controlSocket, 'connect', { connector: 'docs', secret: 'canary-secret' });
  expect(ended).toEqual({ step: 'ended', outcome: 'succeeded', reason: null });
  await published(daemon, 'docs');
  expect(JSON.stringify(await logged('authorization.ended'))).not.toContain('canary');
  expect(control.requests.find(({ url }) => url.endsWith('/complete'))?.body).toBe(
    '{"secret":{"secret":"canary-secret"}}',
  );
});

test.each([
  ['a secret whose reply is lost', { type: 'submit_secret' }],
  ['a person who is sent elsewhere, with nobody left to be told', { type: 'redirect', url: 'https://example.com/' }],
])('%s may have connected all the same, so the core reads', async (_, nextAction) => {
  snapshots['sid=ann'] = { revision: 5, connectors: [] };
  await start();
  await use('ann');
  const session = { sessionId: 's-1', connectorRevision: '1.0.0', status: 'AWAITING_USER', nextAction };
  const usual = control.answer;
  control.answer = (request, response, body) => {
    if (request.url?.endsWith('/authorization-sessions') === true) return json({ session })(request, response);
    if (request.url?.endsWith('/complete') !== true) return usual(request, response, body);
    snapshots['sid=ann'] = { revision: 6, connectors: [line] };
    response.destroy();
  };
  const steps = streamControl(daemon.controlSocket, 'connect', { connector: 'docs', secret: 'canary-secret' });
  if (nextAction.type === 'redirect') {
    await steps.next();
    snapshots['sid=ann'] = { revision: 6, connectors: [line] };
    await steps.return();
  } else await expect(steps.next()).rejects.toMatchObject({ kind: 'ControlUnreachable' });
  await published(daemon, 'docs');
  expect(await logged('authorization.ended')).toMatchObject([
    { data: { outcome: 'failed', reason: 'outcome-unknown' } },
  ]);
});

test('a disconnect that can not be asked for is told by a word, not by a path with an account in it', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  rmSync(sessions.replace('{account}', 'ann'));
  await expect(callControl(daemon.controlSocket, 'disconnect', { connector: 'docs' })).rejects.toMatchObject({
    kind: 'SessionRefused',
  });
  expect(await logged('connection.dropFailed')).toMatchObject([{ data: { reason: 'session-absent' } }]);
});

test('disconnecting withdraws before the server has answered, and a failure of it is told', async () => {
  await start();
  await use('ann');
  await published(daemon, 'docs');
  const usual = control.answer;
  control.answer = (request, response, body) => {
    if (request.method !== 'DELETE') return usual(request, response, body);
    expect([...daemon.reconciler.table.keys()]).toEqual([]);
    snapshots['sid=ann'] = { revision: 6, connectors: [] };
    json({ revision: '6' })(request, response);
  };
  await callControl(daemon.controlSocket, 'disconnect', { connector: 'docs' });
  expect(await logged('connection.dropped')).toMatchObject([{ data: { connector: 'docs', revision: '6' } }]);
  control.answer = json({}, 500);
  await expect(callControl(daemon.controlSocket, 'disconnect', { connector: 'docs' })).rejects.toMatchObject({
    kind: 'AuthorizationRefused',
    reason: 'unavailable',
  });
  expect(await logged('connection.dropFailed')).toHaveLength(1);
});
