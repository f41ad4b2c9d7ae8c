/**
 * Something that may be given up, once. It says what an AbortSignal says, at a fraction of the price: a signal that is made, listened
 * to and left for each call of each hop was a tenth of what a call costs.
 */
export interface Stop {
  /** Why it was given up; undefined while it was not. */
  readonly reason: Error | undefined;
  /** Calls a listener when it is given up, or at once when it was before. The answer lets the listener go. */
  listen(listener: (reason: Error) => void): () => void;
}

/** A {@link Stop} with its end. */
export class Ending implements Stop {
  #reason: Error | undefined;
  readonly #listeners = new Set<(reason: Error) => void>();

  get reason(): Error | undefined {
    return this.#reason;
  }

  listen(listener: (reason: Error) => void): () => void {
    // One that listens twice must not be let go for both.
    const own = (reason: Error): void => listener(reason);
    if (this.#reason === undefined) this.#listeners.add(own);
    else own(this.#reason);
    return () => void this.#listeners.delete(own);
  }

  /** Gives it up; nothing when it was before. */
  end(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener(reason);
  }
}
