/** A connector that prints without end costs the others nothing: it is ended, and its route goes with a reason. Law L19. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callControl } from '../../src/host/controlClient.ts';
import type { Daemon } from '../../src/host/index.ts';
import { fixtureConnector, modern } from '../support/host/agent.ts';
import { daemonWith, published } from '../support/host/daemons.ts';

let daemon: Daemon;
beforeAll(async () => {
  const connectors = [fixtureConnector('good'), fixtureConnector('loud', { more: ['flood'] })];
  daemon = await daemonWith({ connectors });
  await published(daemon, 'good', 'loud');
});
afterAll(() => daemon.close());

test('a flood of noise ends the connector that makes it, with a reason, and it is opened again by the ladder', async () => {
  const from = daemon.reconciler.position + 1;
  const flooding = modern(daemon, 'tools/call', { name: 'loud__flood' });
  await published(daemon, 'good');
  const loud = daemon.reconciler.status().routes.find(({ connector }) => connector === 'loud');
  expect(loud).toMatchObject({ reason: 'faulted', nextAttemptAt: expect.any(Number) as number });
  const told = await callControl(daemon.controlSocket, 'log.read', { from, count: 1 });
  expect(told).toMatchObject({ type: 'route.exited', data: { connector: 'loud' } });
  expect((told as { data: { reason: string } }).data.reason).toContain('answer nothing: a log belongs on stderr');
  expect((await flooding).text).toContain('whether the call acted is unknown');
  await published(daemon, 'good', 'loud');
}, 30_000);

test('meanwhile the others answer', async () => {
  const flooding = modern(daemon, 'tools/call', { name: 'loud__flood' });
  const { text } = await modern(daemon, 'tools/call', { name: 'good__echo' });
  expect(text).toContain('"result"');
  await flooding;
});
