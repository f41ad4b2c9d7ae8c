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

/** Starts the clock of one exchange. `outer` is the caller's own signal: giving up is not running out of time. */
export function openDeadline(deadlines: Deadlines, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  const end = (why: 'timeout' | 'aborted'): void => {
    ended ??= why;
    controller.abort();
  };
  const giveUp = (): void => end('aborted');
  const expire = (): void => end('timeout');
  let quiet = setTimeout(expire, clampDelay(deadlines.firstByteMs));
  const total = setTimeout(expire, clampDelay(deadlines.totalMs));
  let started = false;
  if (outer?.aborted === true) giveUp();
  outer?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    touch() {
      if (started) return void quiet.refresh();
      started = true;
      clearTimeout(quiet);
      quiet = setTimeout(expire, clampDelay(deadlines.gapMs));
    },
    close() {
      clearTimeout(quiet);
      clearTimeout(total);
      outer?.removeEventListener('abort', giveUp);
    },
  };
}
