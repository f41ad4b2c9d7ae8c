/**
 * Bad input at every entry point, over real sockets and pipes. Ten thousand in all; DACAPO_LONG=1 makes it more than a hundred
 * thousand. The oracle is in support/wire/siege.ts, the inputs in badText.ts and badHead.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Daemon } from '../../src/host/index.ts';
import { openGateway, type Gateway } from '../../src/gateway/index.ts';
import { ANN, BEARER, CREDENTIAL, smallAuthority } from '../support/gateway.ts';
import { fixtureConnector } from '../support/host/agent.ts';
import { daemonWith, published } from '../support/host/daemons.ts';
import { openPeer, json, result, text, tool, type Peer } from '../support/protocol/peer.ts';
import { hintEntry } from '../support/wire/hintEntry.ts';
import { replyEntry } from '../support/wire/replyEntry.ts';
import { bodies, heads, type Target } from '../support/wire/serverEntries.ts';
import { besiege, type Entry, type Tally } from '../support/wire/siege.ts';
import { snapshotEntry } from '../support/wire/snapshotEntry.ts';
import { stdioEntry } from '../support/wire/stdioEntry.ts';

const LONG = process.env['DACAPO_LONG'] === '1';
const TIMES = LONG ? 10 : 1;
const patience = LONG ? 1_800_000 : 240_000;

let daemon: Daemon;
let gateway: Gateway;
let upstream: Peer;
let local: Target;
let door: Target;
const tallies = new Map<string, Tally>();
const seen = new Set<string>();

beforeAll(async () => {
  daemon = await daemonWith({ connectors: [fixtureConnector('alpha', { announces: true })] });
  await published(daemon, 'alpha');
  const headers = { authorization: `Bearer ${daemon.mcpToken}` };
  const position = (): string => String(daemon.reconciler.position);
  local = { url: new URL(daemon.mcpUrl), headers, meta: {}, tool: 'alpha__echo', state: position };
  upstream = await openPeer(({ body }, response) => {
    const list = { tools: [tool('echo')], ttlMs: 0, cacheScope: 'private' };
    json(response, result(body.id, body.method === 'tools/list' ? list : text('ok')));
  });
  const authority = smallAuthority();
  const binding = {
    endpoint: upstream.url,
    mode: 'modern',
    privateNetwork: true,
    injection: BEARER,
    limits: {},
  } as const;
  const allowedHosts = [new URL(upstream.url).host];
  authority.bindings.set('demo', { version: '1.0.0', upstream: { ...binding, allowedHosts } });
  authority.connections.set('1/demo', { credential: CREDENTIAL, version: 1, state: 'connected' });
  gateway = await openGateway({ authority, limits: { ratePerSecond: 1e9, rateBurst: 1e9 } });
  door = {
    url: new URL(`${gateway.url}/v1/connectors/demo/mcp`),
    headers: { authorization: `Bearer ${ANN}`, 'tutti-connector-version': '1.0.0' },
    meta: { 'sh.tutti/connectorVersion': '1.0.0' },
    tool: 'echo',
    state: () => JSON.stringify([...authority.connections]),
  };
});
afterAll(async () => {
  await daemon.close();
  await gateway.close();
  await upstream.close();
});

async function hold(name: string, entry: Entry & { close?(): Promise<void> }, wanted: number): Promise<void> {
  try {
    tallies.set(name, await besiege(entry, wanted * TIMES, seen));
  } finally {
    await entry.close?.();
  }
}

describe('bad input is answered in order and leaves nothing behind', () => {
  test('in bodies and headers to the local server', () => hold('local bodies', bodies(local, 1), 2_500), patience);
  test('in bodies and headers to the gateway', () => hold('gateway bodies', bodies(door, 2), 2_500), patience);
  test('as bytes that are no HTTP, to the local server', () => hold('local heads', heads(local, 3), 750), patience);
  test('as bytes that are no HTTP, to the gateway', () => hold('gateway heads', heads(door, 4), 750), patience);
  test('in the body of a snapshot', async () => hold('snapshot', await snapshotEntry(5), 1_250), patience);
  test('in a frame of the hint channel', async () => hold('hint', await hintEntry(6), 1_250), patience);
  test('in an answer to our client', async () => hold('reply', await replyEntry(7), 1_250), patience);
  test('in a line of a connector’s process', async () => hold('stdio', await stdioEntry(8), 1_000), patience);

  test('and there were ten thousand of it, each another', () => {
    const refused = [...tallies.values()].reduce((sum, tally) => sum + tally.refused, 0);
    expect(tallies.size).toBe(8);
    expect(refused).toBeGreaterThanOrEqual(10_000 * TIMES);
    expect(seen.size).toBeGreaterThanOrEqual(refused);
    // The figures of the long form are wanted, not only that they are enough.
    if (LONG)
      process.stdout.write(
        `${JSON.stringify({ distinct: seen.size, refused, entries: Object.fromEntries(tallies) })}\n`,
      );
  });
});
