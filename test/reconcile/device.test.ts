/** What this device reports of its connectors, and what it does not say. */
import { expect, test } from 'vitest';
import type { LoggedEvent } from '../../src/events/index.ts';
import { redactor } from '../../src/events/redact.ts';
import { evolve, initialState, stateHash } from '../../src/reconcile/index.ts';
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

test('words that a redaction changes are no part of the state: an account may be called like any word or number', () => {
  const s = new Scenario()
    .signIn('2')
    .installed('docs', { incompatible: 'needs host 2.0.0 or later, this is 1.0.0' })
    .installed('files', { kind: 'stdio', authorization: 'none', incompatible: 'not-installed' });
  expect([s.reasonOf('docs'), s.reasonOf('files')]).toEqual(['incompatible', 'not-installed']);
  const redact = redactor('key');
  const state = initialState();
  for (const event of s.log) evolve(state, { ...event, data: redact(event.type, event.data) } as LoggedEvent);
  expect(stateHash(state)).toBe(s.hash);
});
