/** Time that comes must be told: what nobody is told of is owed by nobody. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  HeapDeadlines,
  ScanDeadlines,
  evolve,
  initialState,
  nextWake,
  stateHash,
  type Alarm,
} from '../../src/reconcile/index.ts';
import { docsLive, settled, type Bench } from '../support/hands.ts';
import { connected, docsPublished, MINUTE, SECOND } from '../support/scenario.ts';

const failRead = (bench: Bench): Promise<void> => {
  const { effect, end } = bench.work('fetchSnapshot');
  if (effect.kind !== 'fetchSnapshot') throw new Error('not a fetch');
  const { account, epoch } = effect;
  return end({ type: 'snapshot.failed', data: { account, epoch, reason: 'away', retryAfterMs: null } });
};
const passed = async (bench: Bench, ms: number): Promise<void> => {
  bench.edge.pass(ms);
  await settled();
};

test('a read that failed is tried again by itself, at the instant that status names', async () => {
  const bench = await docsLive();
  bench.engine.accept({ type: 'clock.ticked', data: { reason: 'poll' } });
  await settled();
  await failRead(bench);
  const at = bench.engine.status().wanted?.nextAttemptAt ?? 0;
  expect(bench.atWork).toEqual([]);
  await passed(bench, at - bench.edge.nowMs);
  expect(bench.atWork).toEqual(['fetchSnapshot']);
});

test('an account goes stale and expires on time while its reads fail one after the other', async () => {
  const bench = await docsLive();
  for (let minute = 0; minute < 61; minute++) {
    await passed(bench, MINUTE);
    if (bench.atWork.includes('fetchSnapshot')) await failRead(bench);
    if (minute === 10) expect(bench.engine.status().account?.state).toBe('stale');
  }
  expect(bench.engine.explain('docs')).toMatchObject({ state: 'closing', reason: 'stale' });
});

test('a wait begins at the newest instant that is known, should an event bear an older one', () => {
  const s = docsPublished().poll();
  const { now } = s.state.head;
  s.now -= 60 * MINUTE;
  const { account, epoch } = s;
  s.learn({ type: 'snapshot.failed', data: { account, epoch, reason: 'away', retryAfterMs: null } });
  expect(s.owed).not.toContain('fetchSnapshot');
  s.reject('docs')
    .closeAll()
    .read(6, { docs: connected(1) });
  expect([s.reasonOf('docs'), nextWake(s.state)]).toEqual(['rejected', now + 2 * SECOND]);
});

test('an instant that is far off is noted once, however often its record is touched meanwhile', () => {
  const s = docsPublished()
    .read(6, { docs: connected(2) })
    .closeAll()
    .fail('docs', 'contract');
  let noted = 0;
  const deadlines = new (class extends HeapDeadlines {
    override note(alarm: Alarm): void {
      noted++;
      super.note(alarm);
    }
  })();
  const state = initialState(deadlines);
  for (const event of s.log) evolve(state, event);
  const before = noted;
  for (let revision = 7; revision < 107; revision++) s.read(revision, { docs: connected(2) });
  for (const event of s.log.slice(-100)) evolve(state, event);
  expect(noted - before).toBeLessThan(5);
  expect(nextWake(state)).toBe(s.now + MINUTE);
});

test('the heap and the scan tell every instant alike', () => {
  const moves = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 90 })), { minLength: 5, maxLength: 40 });
  fc.assert(
    fc.property(moves, (list) => {
      const s = docsPublished();
      for (const [kind, seconds] of list) {
        s.later(seconds * SECOND);
        if (kind === 0) s.poll();
        if (kind === 1) s.read(5 + (seconds % 3), { docs: connected(1 + (seconds % 2)) });
        if (kind === 2 && s.published.length > 0) s.reject('docs');
        if (kind === 3) s.hint(5 + (seconds % 4));
        if (kind === 4 && s.owed.includes('openRoute docs')) s.fail('docs');
        if (kind === 5 && s.owed.includes('openRoute docs')) s.open('docs');
        if (kind === 6) s.closeAll();
      }
      const [heap, scan] = [new HeapDeadlines(), new ScanDeadlines()].map((deadlines) => initialState(deadlines));
      for (const event of s.log) {
        for (const state of [heap, scan]) if (state !== undefined) evolve(state, event);
        if (heap !== undefined && scan !== undefined) expect(nextWake(heap)).toBe(nextWake(scan));
      }
      expect(heap && stateHash(heap)).toBe(scan && stateHash(scan));
    }),
    { numRuns: 200 },
  );
});
