/**
 * One piece of work under a deadline and a caller's signal. Each piece has a controller of its own and leaves no listener on the
 * caller's: a signal that lives as long as a route would else gather one listener a request (peers, finding c).
 */

/** What the signal of the work is aborted with when its time is over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  constructor(ms: number) {
    super(`not done within ${ms} ms`);
  }
}

/**
 * Runs `work` with a signal that is aborted by the caller's (with its reason) or after `ms` (with a {@link DeadlineError}).
 * Settles with the work, or as soon as the signal is aborted: work that does not listen is left behind, not waited for.
 */
export async function within<T>(
  ms: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DeadlineError(ms)), ms);
  const { signal, release } = linked(caller, late.signal);
  try {
    signal.throwIfAborted();
    return await Promise.race([work(signal), aborted(signal)]);
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Rejects with the signal's reason. Only for signals that end with their work: the listener stays. */
export function aborted(signal: AbortSignal): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    const end = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  });
  ended.catch(() => undefined);
  return ended;
}

/** A signal that is aborted with the first of several, and what takes its listeners off again. */
export function linked(...signals: readonly AbortSignal[]): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  const all = new AbortController();
  const listeners = signals.map((signal) => {
    const end = (): void => all.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  });
  return { signal: all.signal, release: () => listeners.forEach((remove) => remove()) };
}
