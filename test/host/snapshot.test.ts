import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseFact } from '../../src/events/parse.ts';
import { openPools, type Pools } from '../../src/host/pools.ts';
import { controlPlane, type ControlPlane } from '../../src/host/sources/controlPlane.ts';
import { sessionFiles } from '../../src/host/sources/sessions.ts';
import { fetchSnapshot } from '../../src/host/sources/snapshot.ts';
import { controlServer, folder, json, login, type ControlServer } from '../support/host/controlServer.ts';

let server: ControlServer;
let pools: Pools;
let plane: ControlPlane;
let file: string;
beforeEach(async () => {
  server = await controlServer();
  pools = openPools();
  file = join(folder(), 'session.json');
  login(file, 'ann');
  plane = controlPlane({ baseUrl: server.url, sessions: sessionFiles(file), pools });
});
afterEach(async () => {
  await pools.close();
  await server.close();
});

const never = new AbortController().signal;
const fetch = (signal = never) => fetchSnapshot(plane, { account: 'ann', epoch: 3, startedAt: 7 }, signal);
const line = { connectorId: 'docs', connectorVersion: '1.0.0', state: 'connected', connectionId: 'c-1' };

test('a snapshot comes home as one fact, 64-bit numbers whole and the connection id only as a hash', async () => {
  server.answer = json({
    revision: '18446744073709551615',
    connectors: [{ ...line, connectionVersion: '9007199254740993' }],
  });
  const fact = await fetch();
  expect(fact).toMatchObject({
    type: 'snapshot.received',
    data: { account: 'ann', epoch: 3, startedAt: 7, revision: '18446744073709551615', complete: true },
  });
  expect(fact.data).toMatchObject({ entries: { docs: { state: 'connected', connectionVersion: '9007199254740993' } } });
  expect(JSON.stringify(fact)).not.toContain('c-1');
});

test('the request carries the cookie of the moment and asks the path of the contract', async () => {
  server.answer = json({ revision: 1, connectors: [] });
  await fetch();
  login(file, 'ann', 'sid=renewed');
  await fetch();
  expect(server.requests.map(({ cookie }) => cookie)).toEqual(['sid=ann', 'sid=renewed']);
  expect(server.requests[0]).toMatchObject({ method: 'GET', url: '/api/desktop/v1/connector-authorizations/snapshot' });
});

test('a request that was frozen under one account never leaves with the cookie of another', async () => {
  login(file, 'bob');
  expect(await fetch()).toMatchObject({ type: 'snapshot.failed', data: { reason: 'session-other-account' } });
  expect(server.requests).toEqual([]);
});

test.each<[string, ControlServer['answer'], string]>([
  ['a page of HTML', (_, r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), 'contentType'],
  ['half a body', (_, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"revision":1'), 'json'],
  ['no list', json({ revision: 1 }), 'shape'],
  ['the snapshot of somebody else', json({ accountId: 'bob', revision: 1, connectors: [] }), 'account'],
  ['a refusal of the session', json({}, 401), 'session (401)'],
  ['a fault', json({}, 503), 'unavailable (503)'],
  ['a broken connection', (_, r) => r.destroy(), 'unreachable'],
  [
    'five million bytes',
    (_, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(5_000_000)),
    'size',
  ],
])('%s is a failed fetch and never an empty list', async (_, answer, reason) => {
  server.answer = answer;
  expect(await fetch()).toMatchObject({ type: 'snapshot.failed', data: { account: 'ann', epoch: 3, reason } });
});

test('a redirect is not followed, so the cookie stays with the server it is for', async () => {
  const thief = await controlServer();
  server.answer = (_, response) => response.writeHead(307, { location: thief.url }).end();
  expect(await fetch()).toMatchObject({ data: { reason: 'redirect (307)' } });
  expect(thief.requests).toEqual([]);
  await thief.close();
});

test('the server may say how long to wait, within an hour', async () => {
  server.answer = json({}, 429, { 'retry-after': '99999999' });
  expect(await fetch()).toMatchObject({ data: { reason: 'limited (429)', retryAfterMs: 3_600_000 } });
});

test('an aborted fetch ends at once in one fact', async () => {
  server.answer = () => undefined;
  const stop = new AbortController();
  const fact = fetch(stop.signal);
  setTimeout(() => stop.abort(), 50);
  expect(await fact).toMatchObject({ type: 'snapshot.failed', data: { reason: 'aborted' } });
});

test('whatever a server calls its connectors, the fact is one that a log can be read with', async () => {
  const names = ['docs', 'GitHub', 'x-', 'a.', 'A', 'x'.repeat(128)];
  const connectors = names.map((connectorId) => ({ ...line, connectorId, connectionVersion: 1 }));
  server.answer = json({ revision: 1, count: names.length, connectors });
  const fact = await fetch();
  expect(parseFact(fact)).toEqual(fact);
  expect(fact.data).toMatchObject({ complete: true });
  expect(Object.keys('entries' in fact.data ? fact.data.entries : {})).toEqual(['docs', 'x'.repeat(128)]);
});
