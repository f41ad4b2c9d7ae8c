/**
 * Stops asking an upstream that is down, and finds out with one call at a time when it is back. Fault D38: at most one probe in
 * ten seconds while it is down, and a recovery that is seen within fifteen.
 */
export interface Breaker {
  /** 0 when a call may go on, else the milliseconds until the next probe may. Letting a probe through takes its turn. */
  ask(key: string): number;
  /** The upstream answered, whatever it said. */
  succeeded(key: string): void;
  /** It was unreachable, timed out or broke. */
  failed(key: string): void;
}

interface Trouble {
  readonly failures: number;
  /** When the next call may go on; 0 while closed. */
  readonly probeAtMs: number;
}

export const FAILURES_TO_OPEN = 5;
export const PROBE_EVERY_MS = 10_000;
const KEYS = 10_000;

export function openBreaker(now: () => number): Breaker {
  const troubles = new Map<string, Trouble>();
  return {
    ask(key) {
      const trouble = troubles.get(key);
      if (trouble === undefined || trouble.failures < FAILURES_TO_OPEN) return 0;
      if (now() < trouble.probeAtMs) return trouble.probeAtMs - now();
      troubles.set(key, { ...trouble, probeAtMs: now() + PROBE_EVERY_MS });
      return 0;
    },
    succeeded: (key) => void troubles.delete(key),
    failed(key) {
      const failures = (troubles.get(key)?.failures ?? 0) + 1;
      if (troubles.size < KEYS || troubles.has(key)) troubles.set(key, { failures, probeAtMs: now() + PROBE_EVERY_MS });
    },
  };
}
