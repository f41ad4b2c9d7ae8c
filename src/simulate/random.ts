/**
 * Chance from one seed, the same on every machine. Every draw is remembered in a running hash, so that two runs of one seed can be
 * compared draw by draw: a world that looks at anything but its seed is found by its first different draw (law L13).
 */
export class Random {
  #state: number;
  #drawn = 0;
  #trace = 0x811c9dc5;

  /** Any whole number; its low 32 bits count. */
  constructor(seed: number) {
    this.#state = seed | 0;
    // Seeds 1, 2, 3 must not begin alike.
    for (let i = 0; i < 4; i++) this.next();
    this.#drawn = 0;
  }

  /** 0 to 2^32 − 1: splitmix, 32 bits wide. */
  next(): number {
    this.#drawn++;
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed = (mixed ^ (mixed >>> 15)) >>> 0;
    this.#trace = Math.imul(this.#trace ^ mixed, 0x01000193);
    return mixed;
  }

  /** A whole number from 0 to `limit` − 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 0x100000000) * limit);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** Always draws, also for chances of 0 and 1: switching a fault off must not shift what comes after it. */
  chance(probability: number): boolean {
    return this.next() / 0x100000000 < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** How many numbers were drawn, and a hash over all of them in order. */
  trace(): string {
    return `${String(this.#drawn)}:${(this.#trace >>> 0).toString(16)}`;
  }
}
