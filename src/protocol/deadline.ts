/** The time one exchange has: to the first byte, between bytes, and in all. */
import { clampDelay, limits } from './limits.ts';
import { Ending, type Stop } from './stop.ts';

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

/** Given up when time is over or the caller gives up. */
export interface Deadline extends Stop {
  /** Which of the two it was; undefined while neither. */
  readonly ended: 'timeout' | 'aborted' | undefined;
  /** Headers or bytes have come: from now on the gap counts. */
  touch(): void;
  /** Ends every timer; to be called whatever happened. */
  close(): void;
}

/** Starts the clock of one exchange. `outer` is the caller's own: giving up is not running out of time. */
export function openDeadline(deadlines: Deadlines, outer?: Stop | AbortSignal): Deadline {
  return new Clock(deadlines, outer);
}

/**
 * One timer, set for the nearest end; progress only moves the end, and the timer looks again when it fires. A timer for each end,
 * set and cleared for every answer that comes at once, costs more than reading the answer.
 */
class Clock extends Ending implements Deadline {
  ended: Deadline['ended'];
  readonly #gapMs: number;
  readonly #overAt: number;
  readonly #release: (() => void) | undefined;
  #quietAt: number;
  #wakeAt: number;
  #timer: NodeJS.Timeout;

  constructor({ gapMs, totalMs, firstByteMs }: Deadlines, outer: Stop | AbortSignal | undefined) {
    super();
    const from = performance.now();
    this.#gapMs = clampDelay(gapMs);
    this.#overAt = from + clampDelay(totalMs);
    this.#quietAt = from + clampDelay(firstByteMs);
    this.#wakeAt = Math.min(this.#quietAt, this.#overAt);
    this.#timer = setTimeout(look, this.#wakeAt - from, this);
    this.#release = outer && hear(outer, () => this.#end('aborted'));
  }

  /** Whether it is over; sets the timer anew when it is not. */
  look(): void {
    const now = performance.now();
    this.#wakeAt = Math.min(this.#quietAt, this.#overAt);
    if (now >= this.#wakeAt) this.#end('timeout');
    else this.#timer = setTimeout(look, this.#wakeAt - now, this);
  }

  touch(): void {
    this.#quietAt = performance.now() + this.#gapMs;
    if (this.#quietAt >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.look();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#release?.();
  }

  #end(why: 'timeout' | 'aborted'): void {
    this.ended ??= why;
    this.end(new Error(why === 'timeout' ? 'no answer in time' : 'the request was given up'));
  }
}

/** As `listen` of a {@link Stop}. */
function hear(outer: Stop | AbortSignal, giveUp: () => void): () => void {
  if (!(outer instanceof AbortSignal)) return outer.listen(giveUp);
  if (outer.aborted) giveUp();
  outer.addEventListener('abort', giveUp, { once: true });
  return () => outer.removeEventListener('abort', giveUp);
}

const look = (clock: Clock): void => clock.look();
