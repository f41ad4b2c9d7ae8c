import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fact } from '../../src/events/index.ts';
import { Authorizations, type ConnectStep } from '../../src/host/authorization.ts';
import { openPools, type Pools } from '../../src/host/pools.ts';
import type { Installed } from '../../src/host/sources/connectors.ts';
import { controlPlane } from '../../src/host/sources/controlPlane.ts';
import { sessionFiles } from '../../src/host/sources/sessions.ts';
import { controlServer, folder, json, login, type ControlServer } from '../support/host/controlServer.ts';

let server: ControlServer;
let pools: Pools;
let facts: Fact[];
let authorizations: Authorizations;
const never = new AbortController().signal;
const redirect = { type: 'redirect', url: 'https://idp.example/' };
const session = { sessionId: 's-1', connectorRevision: '1.0.0', status: 'AWAITING_USER', nextAction: redirect };
const docs = { kind: 'remote', authorization: 'oauth2', release: { version: '1.0.0', digest: 'd' } } as Installed;

beforeEach(async () => {
  server = await controlServer();
  pools = openPools();
  facts = [];
  const file = join(folder(), 'session.json');
  login(file, 'ann');
  authorizations = new Authorizations({
    plane: controlPlane({ baseUrl: server.url, sessions: sessionFiles(file), pools }),
    reconciler: {
      accept: (told) => void facts.push(...([told].flat() as Fact[])),
      active: { account: 'ann', epoch: 1 },
    },
    installed: new Map([['docs', docs]]),
    newId: () => 'r-1',
    pollMs: 5,
    ttlMs: 5_000,
  });
});
afterEach(async () => {
  await pools.close();
  await server.close();
});

async function connected(): Promise<readonly ConnectStep[]> {
  const steps: ConnectStep[] = [];
  for await (const step of authorizations.connect('docs', undefined, never)) steps.push(step);
  return steps;
}

test('a server that is away while a person is elsewhere does not end the wait for them', async () => {
  let looks = 0;
  server.answer = (request, response) => {
    if (request.method === 'POST') return json({ session })(request, response);
    looks += 1;
    if (looks === 1) return void response.destroy();
    if (looks === 2) return json({}, 503)(request, response);
    if (looks === 3) return json({}, 429)(request, response);
    json({ session: { ...session, status: 'SUCCEEDED', resultConnectionId: 'c-1' } })(request, response);
  };
  expect((await connected()).at(-1)).toEqual({ step: 'ended', outcome: 'succeeded', reason: null });
  expect(facts).toMatchObject([
    { type: 'authorization.ended', data: { account: 'ann', epoch: 1, outcome: 'succeeded' } },
  ]);
});

test('a session that the server does not know any more ends it, and the core reads', async () => {
  server.answer = (request, response) =>
    request.method === 'POST' ? json({ session })(request, response) : json({}, 404)(request, response);
  await expect(connected()).rejects.toMatchObject({ name: 'AuthorizationRefused', reason: 'refused' });
  expect(facts).toMatchObject([{ type: 'authorization.ended', data: { reason: 'outcome-unknown' } }]);
});

test('one connector is connected by one at a time, and the next may begin when it ended', async () => {
  server.answer = json({ session });
  const first = authorizations.connect('docs', undefined, never);
  await first.next();
  await expect(connected()).rejects.toMatchObject({ reason: 'busy' });
  await first.return();
  const second = authorizations.connect('docs', undefined, never);
  expect((await second.next()).value).toMatchObject({ step: 'redirect' });
  await second.return();
  expect(facts).toHaveLength(2);
});
