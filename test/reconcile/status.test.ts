import { expect, test } from 'vitest';
import { statusOf } from '../../src/reconcile/index.ts';
import { connected, docsPublished, Scenario } from '../support/scenario.ts';

const shown = (s: Scenario): [string, string, string | null][] =>
  statusOf(s.state, s.table.entries, s.now).routes.map(({ connector, state, reason }) => [connector, state, reason]);

test('signed out, a connector that belongs to accounts is shown with that reason, and why says so', () => {
  const never = new Scenario().installed('docs').installed('files', { kind: 'stdio', authorization: 'none' });
  expect(shown(never)).toEqual([
    ['files', 'opening', null],
    ['docs', 'withheld', 'signed-out'],
  ]);
  expect(never.why('docs')).toMatchObject({ reason: 'signed-out', state: 'withheld' });
  expect(shown(docsPublished().signOut().closeAll())).toEqual([['docs', 'withheld', 'signed-out']]);
});

test('the other account is not shown, except for what is still being closed', () => {
  const s = docsPublished().signIn('bob');
  expect(shown(s)).toContainEqual(['docs', 'closing', 'other-account']);
  expect(shown(s.closeAll())).toEqual([['docs', 'withheld', 'unknown']]);
});

test('what is wanted, how old the belief is, and when something is tried again', () => {
  const s = docsPublished()
    .read(6, { docs: connected(2) })
    .closeAll()
    .fail('docs')
    .hint(9)
    .later(500);
  const { account, wanted, routes } = statusOf(s.state, s.table.entries, s.now);
  expect(account).toMatchObject({ id: 'ann', revision: '6', synced: true, ageMs: 500 });
  expect(wanted).toMatchObject({ revision: '9' });
  expect(routes[0]?.nextAttemptAt).toBeGreaterThan(s.now - 500);
});
