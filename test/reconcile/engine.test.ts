import { describe, expect, test } from 'vitest';
import { memoryLog } from '../../src/events/index.ts';
import { openReconciler } from '../../src/reconcile/index.ts';
import { Bench, docsLive, settled, StillEdge } from '../support/hands.ts';

describe('one turn', () => {
  test('publishes when the outcome is in the log, and says so to whoever listens', async () => {
    const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1 });
    const seen: number[] = [];
    const heads: number[] = [];
    bench.engine.tables.subscribe((table) => (seen.push(table.size), heads.push(bench.log.head)));
    await bench.open('docs');
    expect(seen).toEqual([0, 1]);
    expect(heads[1]).toBe(bench.engine.position);
  });

  test('withdraws before the append and publishes after it (L8)', async () => {
    const bench = await docsLive();
    const headWhenWithdrawn: number[] = [];
    bench.engine.tables.subscribe((table) => table.size === 0 && headWhenWithdrawn.push(bench.log.head));
    const before = bench.log.head;
    bench.engine.accept({ type: 'account.cleared', data: { epoch: bench.engine.nextEpoch() } });
    expect(headWhenWithdrawn).toEqual([before]);
    expect(bench.log.head).toBe(before + 1);
  });

  test('of a listener that hands in a fact is the next turn, not a turn within', async () => {
    const bench = await docsLive();
    bench.engine.tables.subscribe((table) => table.size === 0 && bench.engine.active !== null && bench.signIn('bob'));
    bench.signIn('carl');
    expect(bench.engine.active?.account).toBe('bob');
    expect(bench.types.filter((type) => type === 'account.activated')).toHaveLength(3);
  });

  test('of several facts is one write', () => {
    const bench = new Bench();
    const before = bench.log.appends;
    bench.engine.accept([
      { type: 'clock.ticked', data: { reason: 'poll' } },
      { type: 'hints.opened', data: { incarnation: 'i' } },
    ]);
    expect(bench.log.appends).toBe(before + 1);
  });
});

test('the last read that failed is told until one succeeds, and another login has none yet', async () => {
  const bench = await docsLive();
  const failed = () => bench.engine.status().account?.failed;
  const fail = (epoch: number) =>
    bench.engine.accept({
      type: 'snapshot.failed',
      data: { account: 'ann', epoch, reason: 'timeout', retryAfterMs: null },
    });
  const { epoch } = bench.engine.active ?? { epoch: 0 };
  expect(failed()).toBeNull();
  fail(epoch);
  expect(failed()).toMatchObject({
    reason: 'timeout',
    position: bench.log.head,
    nextAttemptAt: expect.any(Number) as number,
  });
  fail(epoch - 1);
  expect(failed()).toMatchObject({ position: bench.log.head - 1 });
  bench.signIn('bob');
  expect(failed()).toBeNull();
});

describe('what changes nothing', () => {
  test('is no row: a wake-up, a poll without an account, a hint at the floor', async () => {
    const bench = await docsLive();
    const head = bench.log.head;
    const hint = (revision: string | null, count = 1): void =>
      bench.engine.accept({
        type: 'hint.received',
        data: { account: 'ann', revision: revision as never, connector: null, incarnation: 'i', count },
      });
    bench.engine.accept({ type: 'clock.ticked', data: { reason: 'wake' } });
    hint('5', 3);
    hint('4');
    expect(bench.log.head).toBe(head);
    hint('6');
    expect([...bench.log.read(head + 1)][0]?.data).toMatchObject({ revision: '6', count: 5 });
  });

  test('is a row all the same when it was heard from the gateway: a late rejection is what an incident needs', async () => {
    const bench = await docsLive();
    const data = { account: 'ann', epoch: 1, connector: 'docs', generation: 'gone', stamp: null, code: 428 } as const;
    bench.engine.accept({ type: 'call.rejected', data });
    expect(bench.types.at(-1)).toBe('call.rejected');
    expect(bench.published).toEqual(['ann/docs']);
  });

  test('is a row all the same when it is a hint for somebody else', async () => {
    const bench = await docsLive();
    const data = { account: 'bob', revision: null, connector: null, incarnation: 'i', count: 1 };
    bench.engine.accept({ type: 'hint.received', data });
    expect([bench.types.at(-1), bench.engine.status().wanted]).toEqual(['hint.received', null]);
  });

  test('is an id that the log already has', () => {
    const bench = new Bench();
    const event = { type: 'hints.opened', data: { incarnation: 'i' }, id: 'same', at: 1, cause: null } as const;
    bench.engine.acceptEvents([event]);
    bench.engine.acceptEvents([event]);
    expect(bench.types).toEqual(['engine.started', 'hints.opened']);
  });

  test('is an id that stands twice in one batch, or in two that wait for their turn', async () => {
    const bench = await docsLive();
    const event = (id: string) =>
      ({ type: 'hints.opened', data: { incarnation: 'i' }, id, at: bench.edge.nowMs, cause: null }) as const;
    bench.engine.acceptEvents([event('batch'), event('batch')]);
    const hear = (table: { size: number }): void =>
      void (table.size === 0 && bench.engine.acceptEvents([event('wait')]));
    bench.engine.tables.subscribe(hear);
    bench.engine.tables.subscribe(hear);
    bench.signIn('bob').install('mail');
    expect(bench.types.filter((type) => type === 'hints.opened')).toHaveLength(2);
    expect([bench.failures, bench.engine.position]).toEqual([[], bench.log.head]);
  });
});

describe('while the log is away', () => {
  test('the table can only shrink, and what could not be written is written first (M18, L8)', async () => {
    const bench = await docsLive();
    bench.install('mail');
    await bench.read(6, { docs: 1, mail: 1 });
    bench.log.full = true;
    await bench.open('mail');
    expect([bench.engine.readOnly, bench.published]).toEqual([true, ['ann/docs']]);
    bench.engine.accept({ type: 'connector.toggled', data: { connector: 'docs', enabled: false } });
    expect(bench.published).toEqual([]);
    bench.log.full = false;
    bench.edge.pass(1_000);
    expect([bench.engine.readOnly, bench.published]).toEqual([false, ['ann/mail']]);
    expect(bench.types.slice(-2)).toEqual(['route.opened', 'connector.toggled']);
  });

  test('why names the event that withdrew a route, though it is not written yet', async () => {
    const bench = await docsLive();
    const before = bench.engine.explain('docs').chain;
    bench.log.full = true;
    bench.engine.accept({ type: 'hints.opened', data: { incarnation: 'i' } });
    expect(bench.engine.explain('docs').chain).toEqual(before);
    bench.engine.accept({ type: 'connector.toggled', data: { connector: 'docs', enabled: false } });
    bench.engine.accept({ type: 'hints.opened', data: { incarnation: 'i' } });
    const told = [{ type: 'connector.toggled', position: bench.engine.position - 1 }];
    expect(bench.engine.explain('docs').chain).toMatchObject(told);
    bench.log.full = false;
    bench.edge.pass(1_000);
    expect(bench.engine.explain('docs').chain).toMatchObject(told);
  });

  test('the log is asked once a second, however much is heard meanwhile, and gets all of it at once', async () => {
    const bench = await docsLive();
    const { appends } = bench.log;
    bench.log.full = true;
    for (let second = 0; second < 3; second++) {
      for (let count = 0; count < 10; count++)
        bench.engine.accept({ type: 'hints.opened', data: { incarnation: 'i' } });
      bench.edge.pass(1_000);
    }
    expect(bench.log.refusals).toBe(4);
    bench.log.full = false;
    bench.edge.pass(1_000);
    expect([bench.engine.readOnly, bench.log.appends - appends, bench.log.head]).toEqual([
      false,
      1,
      bench.engine.position,
    ]);
    expect(bench.types.slice(-30)).toEqual(Array<string>(30).fill('hints.opened'));
  });

  test('closes are performed, nothing that asks to be seen is begun', async () => {
    const bench = await docsLive();
    bench.log.full = true;
    bench.engine.accept({ type: 'connector.toggled', data: { connector: 'docs', enabled: false } });
    bench.install('local', 'stdio');
    await settled();
    expect(bench.atWork).toEqual(['closeRoute docs']);
    bench.log.full = false;
    bench.edge.pass(1_000);
    await settled();
    expect(bench.atWork).toContain('openRoute local');
  });
});

describe('an effect', () => {
  test('is aborted when it is no longer owed, and awaited before it is begun again (L14)', async () => {
    const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1 });
    await settled();
    const first = bench.work('openRoute docs');
    bench.engine.accept({ type: 'connector.toggled', data: { connector: 'docs', enabled: false } });
    expect(first.context.signal.aborted).toBe(true);
    bench.engine.accept({ type: 'connector.toggled', data: { connector: 'docs', enabled: true } });
    await settled();
    expect(bench.atWork.filter((work) => work === 'openRoute docs')).toHaveLength(1);
    await bench.open('docs');
    expect(bench.published).toEqual(['ann/docs']);
  });

  test('of another account is aborted by a switch, and its late outcome is closed, never published (L1, L7)', async () => {
    const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1 });
    await settled();
    const open = bench.work('openRoute docs');
    bench.signIn('bob');
    expect(open.context.signal.aborted).toBe(true);
    await bench.open('docs');
    expect(bench.published).toEqual([]);
    expect(bench.atWork).toContain('closeRoute docs');
  });

  test('whose performer throws still ends in one event', async () => {
    const log = memoryLog();
    const engine = openReconciler({
      log,
      edge: new StillEdge(),
      package: '0.1.0',
      boot: 'b',
      perform: () => Promise.reject(new Error('a secret in words')),
    });
    engine.accept({ type: 'account.activated', data: { account: 'ann', epoch: engine.nextEpoch() } });
    await settled();
    const last = [...log.read()].at(-1);
    expect(last?.type).toBe('snapshot.failed');
    expect(JSON.stringify(last)).not.toContain('secret');
    await engine.close();
  });

  test('answered by the outcome of another one ends as failed, and backs off instead of being begun again at once', async () => {
    const log = memoryLog();
    const wrong = {
      type: 'snapshot.failed',
      data: { account: 'ann', epoch: 999, reason: 'of another login', retryAfterMs: null },
    } as const;
    const engine = openReconciler({
      log,
      edge: new StillEdge(),
      package: '0.1.0',
      boot: 'b',
      perform: () => Promise.resolve(wrong),
    });
    engine.accept({ type: 'account.activated', data: { account: 'ann', epoch: engine.nextEpoch() } });
    for (let i = 0; i < 20; i++) await settled();
    expect([...log.read()].filter(({ type }) => type === 'snapshot.failed')).toHaveLength(1);
    await engine.close();
  });

  test('names the event whose turn began it as its cause', async () => {
    const bench = await docsLive();
    const opened = [...bench.log.read()].at(-1);
    const cause = [...bench.log.read(opened?.cause ?? 0)][0];
    expect([opened?.type, cause?.type]).toEqual(['route.opened', 'snapshot.received']);
  });
});

describe('a restart', () => {
  test('refolds the log: nothing is open, and the same is published once it has been read again (M16)', async () => {
    const bench = await docsLive();
    const engine = openReconciler({
      log: bench.log.inner,
      edge: bench.edge,
      package: '0.1.0',
      boot: 'b2',
      perform: () => new Promise(() => undefined),
    });
    expect(engine.table.size).toBe(0);
    expect(engine.active).toBeNull();
    engine.accept({ type: 'account.activated', data: { account: 'ann', epoch: engine.nextEpoch() } });
    expect(engine.status().due.some((text) => text.startsWith('closeRoute'))).toBe(false);
    await engine.close();
  });

  test('gives the same state hash as the life before it', async () => {
    const bench = await docsLive();
    const hash = bench.engine.stateHash();
    const copy = memoryLog();
    copy.append([...bench.log.read()] as never);
    const { stateHash, evolve, initialState } = await import('../../src/reconcile/index.ts');
    const state = initialState();
    for (const event of copy.read()) evolve(state, event);
    expect(stateHash(state)).toBe(hash);
  });
});

describe('time', () => {
  test('wakes the engine for a retry, and for nothing else', async () => {
    const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1 });
    await settled();
    const { effect, end } = bench.work('openRoute docs');
    const { kind: _, ...route } = effect as Extract<typeof effect, { connector: string }>;
    await end({
      type: 'route.openFailed',
      data: { ...route, reason: 'unavailable', detail: null, code: null, stamp: null, retryAfterMs: 5_000 },
    });
    expect(bench.engine.status().routes[0]).toMatchObject({ state: 'faulted', reason: 'faulted' });
    bench.edge.pass(4_999);
    await settled();
    expect(bench.atWork).toEqual([]);
    bench.edge.pass(1);
    await settled();
    expect(bench.atWork).toEqual(['openRoute docs']);
  });

  test('leaves no timer behind after close', async () => {
    const bench = await docsLive();
    await bench.engine.close();
    expect(bench.edge.waiting).toBe(0);
  });
});

test('an engine that cannot go on shows nothing, and says why', async () => {
  const bench = await docsLive();
  bench.log.taken = true;
  bench.engine.accept({ type: 'hints.opened', data: { incarnation: 'i' } });
  expect(bench.published).toEqual([]);
  expect(String(bench.failures[0])).toContain('somebody else writes this log');
});
