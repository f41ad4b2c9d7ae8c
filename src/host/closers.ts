/** What was opened, to be closed in the opposite order; also when the opening breaks off in the middle. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];
  #closed: Promise<void> | undefined;

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything once. One that fails does not keep the others open; the first failure is thrown at the end. */
  close(): Promise<void> {
    this.#closed ??= this.#run();
    return this.#closed;
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0] instanceof Error ? failures[0] : new Error('closing failed');
  }
}
