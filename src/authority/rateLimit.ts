/** A bucket of tokens for each key: a burst at once, then a steady rate. Keys that are full again are forgotten. */
export interface RateLimit {
  /** Takes one; answers 0, or how many milliseconds to wait. */
  readonly take: (key: string, now: number) => number;
}

export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

const sweepAt = 10_000;

export const openRateLimit = ({ burst, perSecond }: Rate): RateLimit => {
  const buckets = new Map<string, { left: number; at: number }>();
  const refilled = (bucket: { left: number; at: number }, now: number): number =>
    Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) / 1000) * perSecond);
  const sweep = (now: number): void => {
    for (const [key, bucket] of buckets) if (refilled(bucket, now) >= burst) buckets.delete(key);
  };
  return {
    take: (key, now) => {
      if (buckets.size >= sweepAt) sweep(now);
      const bucket = buckets.get(key);
      const left = bucket === undefined ? burst : refilled(bucket, now);
      const taken = left >= 1;
      buckets.set(key, { left: taken ? left - 1 : left, at: now });
      return taken ? 0 : Math.ceil(((1 - left) / perSecond) * 1000);
    },
  };
};
