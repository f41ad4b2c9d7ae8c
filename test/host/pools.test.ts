import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPools } from '../../src/host/pools.ts';
import { directFactory } from '../../src/host/routes/directFactory.ts';
import { localConnection } from '../../src/host/routes/remoteClientFactory.ts';
import { controlPlane } from '../../src/host/sources/controlPlane.ts';
import { sessionFiles } from '../../src/host/sources/sessions.ts';
import { fetchSnapshot } from '../../src/host/sources/snapshot.ts';
import { limits } from '../../src/protocol/index.ts';
import { controlServer, folder, json, login } from '../support/host/controlServer.ts';

const listed = { resultType: 'complete', tools: [] };

test('calls of one connector that hang, at the origin of everything, keep neither another connector nor the snapshot waiting', async () => {
  const server = await controlServer();
  let hanging = 0;
  server.answer = (request, response, body) => {
    if (request.url?.includes('/slow/') === true) return void (hanging += 1);
    if (request.url?.endsWith('/snapshot') === true) return json({ revision: 1, connectors: [] })(request, response);
    const { id } = JSON.parse(body) as { readonly id: number };
    json({ jsonrpc: '2.0', id, result: listed })(request, response);
  };
  const file = join(folder(), 'session.json');
  login(file, 'ann');
  const ways = { baseUrl: server.url, sessions: sessionFiles(file), pools: openPools() };
  const open = directFactory({ ...ways, hostVersion: '1' });
  const client = (connector: string) =>
    open({
      ...{ operation: 'o', connection: localConnection('ann', connector), connector, account: 'ann', epoch: 1 },
      ...{ release: { version: '1', digest: 'd' }, generation: 'g', binding: { bindingRef: 'a', contractVersion: 1 } },
    });
  const stop = new AbortController();
  const { signal } = stop;
  const slow = client('slow');
  let over = 0;
  const calls = Array.from({ length: limits.agentConcurrency }, async () => {
    await slow.callTool({ name: 'x', bindings: [], args: undefined }, { signal });
    over += 1;
  });
  await expect.poll(() => hanging).toBe(calls.length);
  expect(await client('quick').listPage(undefined, { signal })).toMatchObject({ ok: true });
  const snapshot = await fetchSnapshot(controlPlane(ways), { account: 'ann', epoch: 1, startedAt: 1 }, signal);
  expect(snapshot.type).toBe('snapshot.received');
  expect(over).toBe(0);
  stop.abort();
  await Promise.all(calls);
  await ways.pools.close();
  await server.close();
});
