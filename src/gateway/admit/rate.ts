/**
 * How many calls a second, under one key: a bucket that fills at `perSecond` and holds `burst`.
 */
export interface Rate {
  /** 0 when the call may go on, else the milliseconds after which one may. */
  take(key: string): number;
}

export interface RateOptions {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** Full buckets carry no information; above this many they are swept. */
const SWEEP = 10_000;

export function openRate({ perSecond, burst }: RateOptions, now: () => number): Rate {
  const buckets = new Map<string, Bucket>();
  const level = ({ tokens, atMs }: Bucket): number => Math.min(burst, tokens + ((now() - atMs) / 1000) * perSecond);
  const sweep = (): void => {
    for (const [key, bucket] of buckets) if (level(bucket) >= burst) buckets.delete(key);
  };
  return {
    take(key) {
      if (buckets.size > SWEEP) sweep();
      const tokens = level(buckets.get(key) ?? { tokens: burst, atMs: now() });
      if (tokens < 1) return Math.ceil(((1 - tokens) / perSecond) * 1000);
      buckets.set(key, { tokens: tokens - 1, atMs: now() });
      return 0;
    },
  };
}
