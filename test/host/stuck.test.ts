import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Daemon } from '../../src/host/index.ts';
import { fixtureConnector, modern } from '../support/host/agent.ts';
import { daemonWith, published } from '../support/host/daemons.ts';

let daemon: Daemon;
beforeAll(async () => {
  // Listed once, when its route is opened; then it hangs.
  const connectors = [fixtureConnector('alpha'), fixtureConnector('stuck', { lists: 1 })];
  daemon = await daemonWith({ connectors, listDeadlineMs: 1_500 });
  await published(daemon, 'alpha', 'stuck');
});
afterAll(() => daemon.close());

const result = (text: string) => (JSON.parse(text) as { result: Record<string, unknown> }).result;
const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

test('a connector that does not answer hides no other, and its absence is told', async () => {
  const { text } = await modern(daemon, 'tools/list');
  const list = result(text) as unknown as { tools: { name: string }[]; _meta: Record<string, { missing: unknown[] }> };
  expect(names(list.tools)).toEqual(expect.arrayContaining(['alpha__echo', 'alpha__odd']));
  expect(list._meta['sh.tutti/incomplete']?.missing).toMatchObject([{ connector: 'stuck', code: -33004 }]);
});

test('a call asks its owner alone: one that hangs delays nobody else', async () => {
  const asked = await modern(daemon, 'tools/call', { name: 'alpha__echo' });
  expect(result(asked.text)).toMatchObject({ content: [{ type: 'text' }] });
});
