/** The points of a row, one after the other. */
import type { Judged } from './judge.ts';

export interface Point extends Judged {
  /** Enough to find it again. */
  readonly at: string;
}
export type Points = AsyncGenerator<Point, void, void>;

/** At most `limit` of a list, first and last among them, evenly apart. */
export function spread<T>(list: readonly T[], limit: number): readonly T[] {
  if (list.length <= limit) return list;
  return Array.from({ length: limit }, (_, index) => list[Math.floor((index * (list.length - 1)) / (limit - 1))]!);
}
