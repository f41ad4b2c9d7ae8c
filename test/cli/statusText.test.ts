import { expect, test } from 'vitest';
import { statusText } from '../../src/cli/statusText.ts';
import { statusOf } from '../../src/reconcile/index.ts';
import { Scenario } from '../support/scenario.ts';

test('a connector that this machine cannot run leads to its cause, one that is not there has none', () => {
  const s = new Scenario()
    .installed('old', { kind: 'stdio', authorization: 'none', incompatible: 'needs host 2' })
    .installed('gone', { kind: 'stdio', authorization: 'none', incompatible: 'not-installed' });
  const [, routes = ''] = statusText(statusOf(s.state, s.table.entries, s.now)).split('\n\n');
  expect(routes.split('\n').map((line) => line.trim().split(/ {2,}/).slice(1))).toEqual([
    ['old', 'withheld', 'incompatible: this machine cannot run it; `dacapo why old` names the cause'],
    ['gone', 'withheld', 'not-installed: it is not installed on this device'],
  ]);
});

test('what could not be opened leads to its cause, also while it is tried again', () => {
  const s = new Scenario().installed('files', { kind: 'stdio', authorization: 'none' }).fail('files');
  const line = () => statusText(statusOf(s.state, s.table.entries, s.now)).split('\n\n')[1] ?? '';
  expect(line()).toMatch(/files {2}faulted .*`dacapo why files` names the cause; next attempt at /);
  s.later(60_000);
  expect(line()).toMatch(/files {2}opening {2}tried again after 1 that failed; `dacapo why files` names the last$/);
});
