import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ensureAccount } from '../../src/authority/accounts.ts';
import { readAudit, recordAudit, tableSink, type Delivery } from '../../src/authority/audit.ts';
import { demoSeed } from '../../src/authority/index.ts';
import { openDrain } from '../../src/authority/drain.ts';
import { openStore, type Store } from '../../src/authority/store.ts';
import type { Edge } from '../../src/authority/log.ts';
import { endpoint, manyAccounts, openWorld, type Person, type World } from '../support/authority.ts';

describe('every decision about somebody known is told once, and how it ended too', () => {
  // One server for all, one account of its own for each test.
  let world: World;
  let ann: Person;
  let accounts = 0;
  beforeAll(async () => {
    const { bindings } = demoSeed({ everythingEndpoint: endpoint });
    world = await openWorld({ seed: { accounts: manyAccounts(8), bindings } });
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    ann = await world.signIn(`account-${++accounts}`);
  });
  const entries = async () =>
    (await world.admin('GET', `/v1/audit?account=${ann.account}`)).json.entries
      .map((row: { entry: unknown }) => row.entry)
      .reverse();

  test('a call, its outcome and a refusal', async () => {
    await ann.call();
    await ann.connect();
    const answer = await ann.call({ traceId: 'trace-1', clientName: 'agent' });
    const callId = answer.outcome === 'authorized' ? answer.callId : '';
    for (let i = 0; i < 3; i++) await world.rpc.audit({ callId, outcome: 'succeeded', durationMs: 7 });
    await ann.list(true);
    expect(await entries()).toMatchObject([
      { event: 'decision', decision: 'authorization_required', tool: 'echo' },
      {
        event: 'decision',
        decision: 'authorized',
        callId,
        traceId: 'trace-1',
        clientName: 'agent',
        bindingRevision: 'everything.primary#1',
        connectionVersion: '1',
      },
      { event: 'outcome', outcome: 'succeeded', callId, durationMs: 7 },
    ]);
    expect((await entries()).length).toBe(3);
  });

  test('nothing a caller says can look like another entry or grow without end', async () => {
    await ann.connect();
    await ann.call({ toolName: 'a\n{"event":"decision"}\u001b[2J', clientName: 'x'.repeat(100_000) });
    const [entry] = await entries();
    expect(entry.tool).toBe('a\n{"event":"decision"}\u001b[2J');
    expect(entry.clientName.length).toBeLessThan(600);
    expect((await world.admin('GET', '/v1/audit')).text.split('\n')).toHaveLength(1);
  });

  test('a flood from nobody known leaves nothing behind', async () => {
    const ask = {
      token: 'A'.repeat(43),
      connectorId: 'everything',
      connectorVersion: '1.0.0',
      toolName: 'echo',
      argumentDigest: 'd',
    };
    const newest = async () => (await world.admin('GET', '/v1/audit?limit=1')).json.entries[0]?.sequence as unknown;
    const before = await newest();
    for (let i = 0; i < 20; i++) await world.rpc.callTool(ask);
    expect(await newest()).toBe(before);
  });

  test.each(['limit=0', 'limit=501', 'before=x'])('an operator who asks wrongly is told how: %s', async (query) => {
    expect((await world.admin('GET', `/v1/audit?${query}`)).json.code).toBe('malformed');
  });
});

describe('the drain', () => {
  const edge: Edge = { now: () => 1, newId: () => 'id', randomBytes: () => Buffer.alloc(0), log: () => undefined };
  let store: Store;
  let stateDir: string;
  beforeEach(async () => {
    stateDir = mkdtempSync(join(tmpdir(), 'dacapo-authority-'));
    store = await openStore(stateDir);
    await store.inTransaction((tx) => ensureAccount(tx, edge, 'ann', 'Ann'));
  });
  afterEach(async () => {
    await store.close();
    rmSync(stateDir, { recursive: true });
  });
  const put = (...ids: string[]) =>
    store.inTransaction(async (tx) => {
      for (const id of ids) await recordAudit(tx, edge, id, { event: 'decision', account: 'ann', connector: id });
    });
  const kept = async () =>
    (await store.inTransaction((tx) => readAudit(tx, { limit: 500 })))
      .map(({ entry }) => (entry as { connector: string }).connector)
      .reverse();

  test('delivers everything in order, whatever fails on the way, and nothing twice', async () => {
    let fail = 3;
    const table = tableSink(store);
    const delivered: string[] = [];
    const sink = async (deliveries: readonly Delivery[]): Promise<void> => {
      // Kept, and then not acknowledged: what a lost connection to a broker looks like.
      await table(deliveries);
      delivered.push(...deliveries.map(({ dedupeId }) => dedupeId));
      if (fail-- > 0) throw new Error('lost');
    };
    const drain = openDrain(store, sink, edge.log);
    await put('a', 'b', 'c');
    for (let i = 0; i < 3; i++) await expect(drain.settled()).rejects.toThrow('lost');
    await drain.settled();
    expect(delivered).toHaveLength(12);
    expect(await kept()).toEqual(['a', 'b', 'c']);
    await drain.close();
  });

  test('tries again by itself, and starts with what an earlier process left', async () => {
    await put('left-behind');
    let fail = 1;
    const sink = (deliveries: readonly Delivery[]) =>
      fail-- > 0 ? Promise.reject(new Error('down')) : tableSink(store)(deliveries);
    const drain = openDrain(store, sink, edge.log);
    while ((await kept()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await drain.close();
    expect(await kept()).toEqual(['left-behind']);
  });

  test('goes on trying by itself after somebody looked while it could not deliver', async () => {
    await put('a');
    let down = true;
    let tried = 0;
    const sink = (deliveries: readonly Delivery[]) =>
      down ? (tried++, Promise.reject(new Error('down'))) : tableSink(store)(deliveries);
    const drain = openDrain(store, sink, edge.log);
    await expect.poll(() => tried).toBe(1);
    await expect(drain.settled()).rejects.toThrow('down');
    down = false;
    await expect.poll(kept).toEqual(['a']);
    await drain.close();
  });

  test("never ends somebody's wait with its own trouble", async () => {
    const drain = openDrain(store, () => Promise.reject(new Error('down')), edge.log);
    await put('a');
    drain.wake();
    await new Promise((resolve) => setTimeout(resolve, 120));
    await drain.close();
    expect(await store.inTransaction((tx) => tx.selectFrom('outbox').select('dedupe_id').execute())).toEqual([
      { dedupe_id: 'a' },
    ]);
  });
});
