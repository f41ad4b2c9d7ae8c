/** The fence on the way out: it should never have to refuse, so belief is put wrong by hand to see that it does. */
import { expect, test } from 'vitest';
import { uint64 } from '../../src/events/index.ts';
import type { Fence } from '../../src/reconcile/index.ts';
import { connected, Scenario } from '../support/scenario.ts';

const opened = (fence: (of: Fence) => Fence): Scenario => {
  const s = new Scenario()
    .installed('docs')
    .signIn('ann')
    .read(5, { docs: connected(3) });
  const routes = s.state.routes.get('ann');
  const docs = routes?.get('docs');
  if (docs?.fence == null) throw new Error('there is no fence');
  routes?.set('docs', { ...docs, fence: fence(docs.fence) });
  return s.open('docs');
};

test('what is believed as it was shown is shown', () => {
  const s = opened((fence) => fence);
  expect([s.published, s.anomalies]).toEqual([['ann/docs'], []]);
});

test.each<[string, (of: Fence) => Fence]>([
  ['an older revision', (fence) => ({ ...fence, stamp: { ...fence.stamp, revision: uint64(6) } })],
  ['an older line', (fence) => ({ ...fence, stamp: { ...fence.stamp, line: 1 } })],
  ['an older version of the same connection', (fence) => ({ ...fence, connectionVersion: uint64(4) })],
])('%s than was shown before is refused, and once an event, as an anomaly', (_, fence) => {
  const s = opened(fence);
  expect(s.published).toEqual([]);
  expect([...s.state.anomalies.values()]).toMatchObject([{ type: 'fence-refused', connector: 'docs', count: 1 }]);
});

test('a route that is looked at twice in one event is refused once', () => {
  const s = opened((fence) => ({ ...fence, connectionVersion: uint64(4) }));
  const refused = (): number => [...s.state.anomalies.values()].reduce((sum, { count }) => sum + count, 0);
  s.learn({ type: 'connector.toggled', data: { connector: 'docs', enabled: false } });
  const before = refused();
  s.learn({ type: 'connector.toggled', data: { connector: 'docs', enabled: true } });
  expect(refused()).toBe(before + 1);
});
