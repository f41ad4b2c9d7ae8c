/** The time one exchange has: to the first byte, between bytes, and in all. */
import { clampDelay, limits } from './limits.ts';

export interface Deadlines {
  readonly firstByteMs: number;
  readonly gapMs: number;
  readonly totalMs: number;
}

export const defaultDeadlines: Deadlines = {
  firstByteMs: limits.firstByteMs,
  gapMs: limits.gapMs,
  totalMs: limits.totalMs,
};

export interface Deadline {
  /** Aborts when time is over or the caller gives up. */
  readonly signal: AbortSignal;
  /** Which of the two it was; undefined while neither. */
  readonly ended: 'timeout' | 'aborted' | undefined;
  /** Headers or bytes have come: from now on the gap counts. */
  touch(): void;
  /** Ends every timer; to be called whatever happened. */
  close(): void;
}

/**
 * Starts the clock of one exchange. `outer` is the caller's own signal: giving up is not running out of time.
 *
 * One timer, set for the nearest end; progress only moves the end, and the timer looks again when it fires. A timer for each end,
 * set and cleared for every answer that comes at once, costs more than reading the answer.
 */
export function openDeadline(deadlines: Deadlines, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  const end = (why: 'timeout' | 'aborted'): void => {
    ended ??= why;
    controller.abort();
  };
  const giveUp = (): void => end('aborted');
  const gapMs = clampDelay(deadlines.gapMs);
  const from = performance.now();
  const overAt = from + clampDelay(deadlines.totalMs);
  let quietAt = from + clampDelay(deadlines.firstByteMs);
  let wakeAt = Math.min(quietAt, overAt);
  let timer = setTimeout(look, wakeAt - from);
  function look(): void {
    const now = performance.now();
    wakeAt = Math.min(quietAt, overAt);
    if (now >= wakeAt) return end('timeout');
    timer = setTimeout(look, wakeAt - now);
  }
  if (outer?.aborted === true) giveUp();
  outer?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    touch() {
      quietAt = performance.now() + gapMs;
      if (quietAt >= wakeAt) return;
      clearTimeout(timer);
      look();
    },
    close() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', giveUp);
    },
  };
}
