/** What this device reports of its connectors, and what it does not say. */
import { expect, test } from 'vitest';
import { connected, docsPublished, Scenario } from '../support/scenario.ts';

test('a connector that was removed and comes back is another one: the open on its way to the first is closed, not shown', () => {
  const s = new Scenario()
    .installed('docs')
    .signIn('ann')
    .read(5, { docs: connected(1) });
  const first = s.dueOpen('docs');
  s.learn({ type: 'connector.removed', data: { connector: 'docs' } }).installed('docs');
  expect(s.open('docs', first).published).toEqual([]);
  expect(s.owed).toEqual(['closeRoute docs', 'openRoute docs']);
});

test('a switch after a start is no report of the release: only the report brings the route back', () => {
  const s = docsPublished().restart();
  s.learn({ type: 'connector.toggled', data: { connector: 'docs', enabled: true } });
  s.signIn('ann').read(6, { docs: connected(1) });
  expect([s.reasonOf('docs'), s.owed]).toEqual(['not-installed', []]);
  expect(s.installed('docs').owed).toEqual(['openRoute docs']);
});
