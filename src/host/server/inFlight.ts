/**
 * What each agent is waiting for: bounds it, and finds what a `notifications/cancelled` of the era before means. Ids are the agent's
 * own and several clients may share a bearer: an id that two requests carry cancels neither.
 */
import { limits, type Id } from '../../protocol/index.ts';

interface Running {
  readonly id: Id;
  readonly cancel: AbortController;
}

export class InFlight {
  readonly #of = new Map<string, Set<Running>>();

  /** Whether an agent may ask one thing more. */
  hasRoom(binding: string): boolean {
    return (this.#of.get(binding)?.size ?? 0) < limits.agentConcurrency;
  }

  /** Runs a request under a signal that a cancellation aborts. */
  async run<T>(binding: string, id: Id, work: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const running = { id, cancel: new AbortController() };
    const all = this.#of.get(binding) ?? new Set();
    this.#of.set(binding, all.add(running));
    try {
      return await work(running.cancel.signal);
    } finally {
      all.delete(running);
      if (all.size === 0) this.#of.delete(binding);
    }
  }

  cancel(binding: string, id: Id): void {
    const meant = [...(this.#of.get(binding) ?? [])].filter((running) => running.id === id);
    if (meant.length === 1) meant[0]?.cancel.abort(new Error('cancelled by the client'));
  }

  /** Requests under way, of all agents. */
  get size(): number {
    return [...this.#of.values()].reduce((sum, all) => sum + all.size, 0);
  }
}
