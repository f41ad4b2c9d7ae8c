import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forwardClock, systemEdge } from '../../src/events/index.ts';
import { orderedId } from '../../src/events/systemEdge.ts';

const HOUR = 3_600_000;

/** A clock over readings of the wall and the monotonic clock that the test sets. */
function clockAt(wall: number, notBefore = 0): { now: () => number; set: (wall: number, monotonic: number) => void } {
  let reading = { wall, monotonic: 500 };
  const now = forwardClock(
    () => reading.wall,
    () => reading.monotonic,
    notBefore,
  );
  return { now, set: (at, monotonic) => void (reading = { wall: at, monotonic: 500 + monotonic }) };
}

it('advances by the monotonic clock when the wall clock is set back, by an hour or by ten years', () => {
  const clock = clockAt(10 * HOUR);
  for (const back of [HOUR, 10 * HOUR]) {
    clock.set(10 * HOUR - back, 40);
    expect(clock.now()).toBe(10 * HOUR + 40);
  }
});

it('follows the wall clock forward after a sleep, and not when it is only slewed', () => {
  const clock = clockAt(HOUR);
  clock.set(HOUR + 900, 10);
  expect(clock.now()).toBe(HOUR + 10);
  clock.set(9 * HOUR, 20);
  expect(clock.now()).toBe(9 * HOUR);
  clock.set(HOUR, 30);
  expect(clock.now()).toBe(9 * HOUR + 10);
});

it('never goes back behind what was recorded before the start', () => {
  const clock = clockAt(HOUR, 2 * HOUR);
  clock.set(HOUR + 5, 5);
  expect(clock.now()).toBe(2 * HOUR + 5);
});

it('never goes back, whatever both clocks do', () => {
  const clock = clockAt(HOUR);
  const readings = [5, 2_000, 1, 7_200_000, 3, 3_000].map((wall, step) => {
    clock.set(wall, step);
    return clock.now();
  });
  expect(readings).toEqual(readings.toSorted((a, b) => a - b));
  expect(readings.every(Number.isInteger)).toBe(true);
});

it('ids are unique, may stand in a log, and rise with time', () => {
  const edge = systemEdge();
  const ids = Array.from({ length: 1_000 }, () => edge.newId());
  expect(new Set(ids).size).toBe(1_000);
  expect(ids.every((id) => /^[A-Za-z0-9_-]{22}$/.test(id))).toBe(true);
  expect(orderedId(1) < orderedId(36 ** 8)).toBe(true);
});

it('a wake-up fires once, unless it was cancelled', async () => {
  const edge = systemEdge();
  const fired: string[] = [];
  edge.wake(1, () => fired.push('kept'));
  edge.wake(1, () => fired.push('cancelled'))();
  edge.wake(-5, () => fired.push('late'));
  edge.wake(Number.NaN, () => fired.push('no number'));
  await sleep(20);
  expect(fired.toSorted()).toEqual(['kept', 'late', 'no number']);
});

it('a wake-up further away than timers can count does not fire at once', async () => {
  let fired = false;
  const cancel = systemEdge().wake(2 ** 31, () => (fired = true));
  await sleep(20);
  cancel();
  expect(fired).toBe(false);
});
