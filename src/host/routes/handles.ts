/**
 * The open clients behind the routes, by the identity of the effect that opened them. A call finds its handle by the route as it was
 * published, so a handle of another generation or login is never found (law L7); and when a route is withdrawn, what runs on it ends
 * at once and says that its outcome is unknown, whatever still comes in.
 */
import { setMaxListeners } from 'node:events';
import {
  fail,
  limits,
  type CallResult,
  type Outcome,
  type RequestOptions,
  type ToolCall,
  type ToolPage,
} from '../../protocol/index.ts';
import type { RouteTable } from '../../reconcile/index.ts';
import { aborted, linked } from '../deadline.ts';
import { Gate } from './gate.ts';
import type { Owner } from './owner.ts';

/** Names one handle; both an effect and a published route have it. */
export interface HandleName {
  readonly account: string | null;
  readonly connector: string;
  readonly generation: string;
  readonly epoch: number;
}

export function handleText({ account, connector, generation, epoch }: HandleName): string {
  return JSON.stringify([account, connector, generation, epoch]);
}

/** An owner in use: calls are bounded, and end with the route. */
export class Handle {
  readonly name: HandleName;
  readonly owner: Owner;
  readonly #gate = new Gate(limits.connectorConcurrency);
  #published = shared();

  constructor(name: HandleName, owner: Owner) {
    this.name = name;
    this.owner = owner;
  }

  listPage(
    cursor: string | undefined,
    options: RequestOptions & { readonly signal: AbortSignal },
  ): Promise<Outcome<ToolPage>> {
    return this.#while(options, (signal) => this.owner.listPage(cursor, { ...options, signal }), false);
  }

  callTool(call: ToolCall, options: RequestOptions & { readonly signal: AbortSignal }): Promise<Outcome<CallResult>> {
    const work = (signal: AbortSignal): Promise<Outcome<CallResult>> =>
      this.#gate.run(signal, () => this.owner.callTool(call, { ...options, signal }));
    return this.#while(options, work, true);
  }

  /** Ends what runs: the route is no longer shown. Should it be shown again under the same name, new calls are served. */
  withdraw(): void {
    this.#published.abort(new Error('the route was withdrawn'));
    this.#published = shared();
  }

  async #while<T>(
    options: { readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<Outcome<T>>,
    acts: boolean,
  ): Promise<Outcome<T>> {
    const published = this.#published.signal;
    const { signal, release } = linked(options.signal, published);
    try {
      const outcome = await Promise.race([work(signal), aborted(signal)]);
      // It may have come in the very turn that withdrew the route.
      return published.aborted ? withdrawn(this.name.connector, acts) : outcome;
    } catch (error) {
      if (!signal.aborted) throw error;
      return published.aborted ? withdrawn(this.name.connector, acts) : fail('aborted', 'the request was given up');
    } finally {
      release();
    }
  }
}

/** Of all calls on a handle at once: many listeners are no leak here. */
function shared(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

function withdrawn(connector: string, mayHaveRun: boolean): Outcome<never> {
  const unknown = mayHaveRun ? '; whether the call acted is unknown, so do not repeat it blindly' : '';
  return fail('unavailable', `${connector} was withdrawn while it was asked${unknown}`, { mayHaveRun });
}

export class Handles {
  readonly #open = new Map<string, Handle>();

  add(name: HandleName, owner: Owner): Handle {
    const handle = new Handle(name, owner);
    this.#open.set(handleText(name), handle);
    return handle;
  }

  find(name: HandleName): Handle | undefined {
    return this.#open.get(handleText(name));
  }

  /** Takes a handle out, for closing. */
  take(name: HandleName): Handle | undefined {
    const handle = this.find(name);
    this.#open.delete(handleText(name));
    handle?.withdraw();
    return handle;
  }

  /** Ends what runs on every handle that the table does not show. */
  follow(table: RouteTable): void {
    const shown = new Set([...table.values()].map(handleText));
    for (const [text, handle] of this.#open) if (!shown.has(text)) handle.withdraw();
  }

  async closeAll(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map((handle) => (handle.withdraw(), handle.owner.close())));
  }
}
