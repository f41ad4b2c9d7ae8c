/**
 * Time that passes only when something arrives. Two clocks as a machine has them: a steady one that timers follow, and a wall clock
 * that can be set, and that alone goes on while the machine sleeps.
 */
interface Arrival {
  readonly atMs: number;
  readonly happen: () => void;
}

const BEGIN_MS = 1_000_000;

export class Clock {
  #steadyMs = BEGIN_MS;
  #aheadMs = 0;
  readonly #arrivals: Arrival[] = [];

  get steadyMs(): number {
    return this.#steadyMs;
  }
  get wallMs(): number {
    return this.#steadyMs + this.#aheadMs;
  }

  /** Sets the wall clock, which is also what a sleep looks like: the steady clock has stood still. */
  moveWall(byMs: number): void {
    this.#aheadMs += byMs;
  }

  /** Something will happen in `delayMs`, unless the function that is returned is called before. */
  in(delayMs: number, happen: () => void): () => void {
    const arrival: Arrival = { atMs: this.#steadyMs + delayMs, happen };
    this.#arrivals.push(arrival);
    return () => {
      const index = this.#arrivals.indexOf(arrival);
      if (index >= 0) this.#arrivals.splice(index, 1);
    };
  }

  /** Lets time pass to the next arrival and answers what then happens. `undefined`: nothing will ever come. */
  next(): (() => void) | undefined {
    let first = 0;
    for (let i = 1; i < this.#arrivals.length; i++)
      if (this.#arrivals[i]!.atMs < this.#arrivals[first]!.atMs) first = i;
    const [arrival] = this.#arrivals.splice(first, 1);
    if (arrival === undefined) return undefined;
    this.#steadyMs = Math.max(this.#steadyMs, arrival.atMs);
    return arrival.happen;
  }
}
