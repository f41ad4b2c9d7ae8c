/** An observable as something to loop over, of which a slow reader only gets the newest value. */
import type { Observable } from 'rxjs';

/** Ends with the observable or the signal. */
export async function* latestOf<T>(source: Observable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  let newest: { readonly value: T } | undefined;
  let over = false;
  let wake: () => void = () => undefined;
  const end = (): void => ((over = true), wake());
  const heard = source.subscribe({ next: (value) => ((newest = { value }), wake()), complete: end, error: end });
  signal.addEventListener('abort', end, { once: true });
  try {
    while (!over || newest !== undefined) {
      if (newest === undefined) await new Promise<void>((resolve) => (wake = resolve));
      const taken = newest;
      newest = undefined;
      if (taken !== undefined) yield taken.value;
    }
  } finally {
    heard.unsubscribe();
    signal.removeEventListener('abort', end);
  }
}
