/**
 * The slow truth: a poll that finds what every lost hint did not say (law L10), and the detection of a machine that slept. After a
 * sleep one poll follows, not one for each that was missed, and whoever holds a connection is told to make a new one (D12).
 */
import type { Fact } from '../../events/index.ts';

/** The two clocks of a machine, in ms: `wall` may jump, `steady` may stop while the machine sleeps. */
export interface Clocks {
  readonly wall: () => number;
  readonly steady: () => number;
}
export const machineClocks: Clocks = { wall: () => Date.now(), steady: () => performance.now() };

export interface ClockOptions {
  readonly everyMs: number;
  readonly accept: (fact: Fact) => void;
  /** The machine slept: connections look alive and are not. */
  readonly onSleep: () => void;
  readonly clocks?: Clocks;
  /** In [0, 1). */
  readonly random?: () => number;
  /** How often the clocks are compared. */
  readonly lookEveryMs?: number;
}

const SLEPT_MS = 30_000;
const AFTER_SLEEP_MS = 5_000;
const tick: Fact = { type: 'clock.ticked', data: { reason: 'poll' } };

/** Starts polling. The returned function stops it. */
export function startClock(options: ClockOptions): () => void {
  const { everyMs, accept, random = Math.random } = options;
  let poll: NodeJS.Timeout | undefined;
  const pollIn = (ms: number): void => {
    clearTimeout(poll);
    poll = setTimeout(() => {
      pollIn(jittered(everyMs, random()));
      accept(tick);
    }, ms);
  };
  const stopLooking = watchForSleep(options, () => {
    options.onSleep();
    pollIn(Math.min(everyMs, AFTER_SLEEP_MS) * random());
  });
  pollIn(jittered(everyMs, random()));
  return () => {
    clearTimeout(poll);
    stopLooking();
  };
}

/** Within a tenth, so that machines that were started together do not ask together. */
function jittered(ms: number, chance: number): number {
  return ms * (0.9 + 0.2 * chance);
}

function watchForSleep(options: ClockOptions, slept: () => void): () => void {
  const { clocks = machineClocks, lookEveryMs = 10_000 } = options;
  let before = { wall: clocks.wall(), steady: clocks.steady() };
  const look = setInterval(() => {
    const now = { wall: clocks.wall(), steady: clocks.steady() };
    const wall = now.wall - before.wall;
    const steady = now.steady - before.steady;
    before = now;
    // Either the steady clock stood still, or this timer came far too late. A clock set back is no sleep.
    if (wall - steady > SLEPT_MS || steady > lookEveryMs + SLEPT_MS) slept();
  }, lookEveryMs);
  look.unref();
  return () => clearInterval(look);
}
