/**
 * Something that may be given up, once. It says what an AbortSignal says, at a fraction of the price: a signal that is made, listened
 * to and left for each call of each hop was a tenth of what a call costs. Whoever needs a real one takes `signal`.
 */
export interface Stop {
  /** Why it was given up; undefined while it was not. */
  readonly reason: Error | undefined;
  /** Calls a listener when it is given up. There is one, the latest: whoever sends. Undefined: nobody. */
  listen(listener: ((reason: Error) => void) | undefined): void;
  readonly signal: AbortSignal;
}

/** A {@link Stop} with its end. */
export class Ending implements Stop {
  #reason: Error | undefined;
  #listener: ((reason: Error) => void) | undefined;
  #controller: AbortController | undefined;

  get reason(): Error | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  listen(listener: ((reason: Error) => void) | undefined): void {
    this.#listener = listener;
  }

  /** Gives it up; nothing when it was before. */
  end(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#listener?.(reason);
  }
}
