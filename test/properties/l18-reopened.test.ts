import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { toolChanges } from '../../src/host/server/changes.ts';
import type { PublishedRoute, RouteTable } from '../../src/reconcile/index.ts';
import { connected, docsPublished } from '../support/scenario.ts';
import { holds } from '../support/worlds.ts';

test('L18: a change of connectionVersion, connection or release is another generation, opened with a fresh list', async () => {
  const been = await holds('L18', { always: ['version-back', 'release-there-and-back', 'open-late'] });
  expect(been.missed('published', 'version-back', 'release-there-and-back', 'open-late')).toEqual([]);
});

const changes = {
  'another version': () => docsPublished().read(6, { docs: connected(2) }),
  'another connection': () => docsPublished().read(6, { docs: connected(1, 'h2') }),
  'another release': () => docsPublished().installed('docs', { digest: 'd2' }),
} as const;

test.each(Object.entries(changes))('L18: %s closes the old handle and opens anew', (_, change) => {
  const before = docsPublished().generationOf('docs');
  const s = change();
  expect(s.published).toEqual([]);
  expect(s.closeAll().open('docs').generationOf('docs')).not.toBe(before);
});

test('L18: agents are told of another generation even when it serves the same definitions', async () => {
  const tables = new Subject<RouteTable>();
  const told: unknown[] = [];
  const subscription = toolChanges(tables, new Subject()).subscribe(() => told.push(true));
  const table = (generation: string): RouteTable =>
    new Map([['ann/docs', { generation, tools: { count: 1, digest: 't' } } as PublishedRoute]]);
  for (const generation of ['d1.1.0', 'd1.1.0', 'd1.2.1']) tables.next(table(generation));
  await expect.poll(() => told).toHaveLength(1);
  subscription.unsubscribe();
});
