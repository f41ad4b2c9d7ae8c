/**
 * Two hundred agents at once, twenty-five to a bearer and all of them using id 1, through the local server to one process: each gets
 * the answer to its own question. A hundred thousand calls; DACAPO_LONG=1 makes it a million.
 */
import { NEVER } from 'rxjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silent } from '../../src/host/log.ts';
import { Handles } from '../../src/host/routes/handles.ts';
import { StdioClient } from '../../src/host/routes/stdioClient.ts';
import { stdioOwner } from '../../src/host/routes/stdioOwner.ts';
import { Aggregate } from '../../src/host/server/aggregate.ts';
import { Bindings } from '../../src/host/server/bindings.ts';
import { cursors } from '../../src/host/server/cursor.ts';
import { openLocalServer, type LocalServer } from '../../src/host/server/listener.ts';
import { naming } from '../../src/host/server/names.ts';
import { childOf } from '../support/host/children.ts';
import { fixtureEnv, fixtureServer } from '../support/host/fixtureServer.ts';
import { Agent } from '../support/wire/agent.ts';

const AGENTS = 200;
/** Below the number of requests that one bearer may have under way. */
const TO_A_BEARER = 25;
const LONG = process.env['DACAPO_LONG'] === '1';
const EACH = (LONG ? 1_000_000 : 100_000) / AGENTS;

const route = { account: null, connector: 'echoes', generation: 'g', epoch: 1 };
const bindings = new Bindings();
const handles = new Handles();
let server: LocalServer;

beforeAll(async () => {
  const signal = new AbortController().signal;
  const child = childOf(fixtureServer, fixtureEnv({ announces: true }));
  const client = await StdioClient.open(child, { hostVersion: '1', log: silent, signal });
  handles.add(
    route,
    stdioOwner(client, () => 0),
  );
  const published = { ...route, stamp: null, connectionVersion: null, tools: { count: 1, digest: 'd' } };
  const aggregate = new Aggregate({
    ...{ table: () => new Map([['/echoes', published]]), handles, naming, cursors: cursors(), listDeadlineMs: 10_000 },
    ...{ onRejected: () => undefined, withheld: () => undefined },
  });
  server = await openLocalServer({ aggregate, bindings, changes: NEVER, version: '1', port: 0, log: silent });
});
afterAll(async () => {
  await server.close(0);
  await handles.closeAll();
});

test(
  'of two hundred agents that all use id 1 nobody ever gets the answer of another',
  async () => {
    const bearers = Array.from({ length: AGENTS / TO_A_BEARER }, (_, n) => bindings.admit(`b${n}`, 'agents'));
    const agents = Array.from({ length: AGENTS }, (_, n) => new Agent(server, bearers[n % bearers.length] ?? '', n));
    const counts = await Promise.all(agents.map((agent) => agent.callOften('echoes__echo', EACH)));
    agents.forEach((agent) => agent.close());
    const sum = (count: (one: (typeof counts)[number]) => number): number =>
      counts.reduce((total, one) => total + count(one), 0);
    const [own, foreign] = [sum((one) => one.own), sum((one) => one.foreign)];
    expect([own, foreign]).toEqual([EACH * AGENTS, 0]);
    if (LONG) process.stdout.write(`${JSON.stringify({ agents: AGENTS, calls: own, crossings: foreign })}\n`);
  },
  LONG ? 3_600_000 : 600_000,
);
