/** What is withdrawn while it is asked: its owner answers, and the agent does not get it. Law L1. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silent } from '../../src/host/log.ts';
import { Handles } from '../../src/host/routes/handles.ts';
import { StdioClient } from '../../src/host/routes/stdioClient.ts';
import { stdioOwner } from '../../src/host/routes/stdioOwner.ts';
import { Aggregate } from '../../src/host/server/aggregate.ts';
import { cursors } from '../../src/host/server/cursor.ts';
import { naming } from '../../src/host/server/names.ts';
import { childOf } from '../support/host/children.ts';
import { fixtureEnv, fixtureServer } from '../support/host/fixtureServer.ts';

const route = { account: null, connector: 'local', generation: 'g', epoch: 1 };
const published = { ...route, stamp: null, connectionVersion: null, tools: { count: 1, digest: 'd' } };
const { signal } = new AbortController();
const handles = new Handles();
let shown = true;
let aggregate: Aggregate;

beforeAll(async () => {
  const child = childOf(fixtureServer, fixtureEnv({ announces: true }));
  const client = await StdioClient.open(child, { hostVersion: '1', log: silent, signal });
  const owner = stdioOwner(client, () => 0);
  handles.add(route, owner);
  aggregate = new Aggregate({
    ...{ table: () => new Map(shown ? [['/local', published]] : []), handles, naming, cursors: cursors() },
    ...{ listDeadlineMs: 10_000, onRejected: () => undefined, withheld: () => undefined },
  });
});
afterAll(() => handles.closeAll());

const call = () =>
  aggregate.call({ name: 'local__echo', args: undefined, metaText: undefined }, { signal, progress: undefined });

test('a result that comes after its route was withdrawn is not answered, and says that the call may have run', async () => {
  shown = true;
  expect((await call()).isError).toBe(false);
  const late = call();
  shown = false;
  await expect(late).rejects.toMatchObject({ code: -33003, data: { outcomeUnknown: true } });
});

test('a list that comes after its route was withdrawn is told as missing, without a tool of it', async () => {
  shown = true;
  expect((await aggregate.list(undefined, signal)).tools.length).toBeGreaterThan(5);
  const late = aggregate.list(undefined, signal);
  shown = false;
  expect(await late).toMatchObject({ tools: [], missing: [{ connector: 'local', code: -33003 }] });
});
