/**
 * How many calls may be under way at once, under one key. There is no queue: who waits holds memory and a caller's patience, and
 * a refusal with Retry-After is an answer. DESIGN 7, threat C35.
 */

/** Counts what is under way by key. */
export interface Bulkhead {
  /** A place under `key`, or `undefined` when `limit` places are taken. The answer gives the place back, once. */
  enter(key: string, limit: number): (() => void) | undefined;
  /** Places taken under `key`. */
  taken(key: string): number;
}

export function openBulkhead(): Bulkhead {
  const counts = new Map<string, number>();
  const leave = (key: string): void => {
    const left = (counts.get(key) ?? 1) - 1;
    if (left === 0) counts.delete(key);
    else counts.set(key, left);
  };
  return {
    enter(key, limit) {
      const taken = counts.get(key) ?? 0;
      if (taken >= limit) return undefined;
      counts.set(key, taken + 1);
      let inside = true;
      return () => {
        if (inside) leave(key);
        inside = false;
      };
    },
    taken: (key) => counts.get(key) ?? 0,
  };
}
