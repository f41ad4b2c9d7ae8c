import { expect, test } from 'vitest';
import { memoryLog } from '../../src/events/index.ts';
import { backwards } from '../../src/reconcile/backwards.ts';

test('a walk back over a log reads it in stretches, and finds every event', () => {
  const log = memoryLog();
  const ticks = Array.from({ length: 450 }, (_, index) => ({ id: `e${String(index)}`, at: index, cause: null }));
  log.append(ticks.map((tick) => ({ ...tick, type: 'clock.ticked', data: { reason: 'poll' } })));
  let reads = 0;
  const at = backwards((from) => {
    reads++;
    return log.read(from);
  });
  const walk = Array.from({ length: 450 }, (_, index) => 450 - index);
  expect(walk.map((position) => at(position)?.position)).toEqual(walk);
  expect(reads).toBe(5);
  expect([at(451), at(0)]).toEqual([undefined, undefined]);
});
