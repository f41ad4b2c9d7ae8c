/**
 * One server in front of many: the list of all that is published, read through to each owner now, and a call to the one owner that a
 * name can belong to. One slow or broken connector delays or hides no other (law L19); a call never goes to another owner because
 * the rightful one failed. What an owner's gateway says of the authorization is told to the core with the route as it was when the
 * request began (law L6), and nothing of a route is answered once it is withdrawn, however far it had come (law L1).
 */
import type { CallParams, CallResult } from '../../protocol/index.ts';
import { callThrough, type CallOptions } from './callThrough.ts';
import { Contracts } from './contracts.ts';
import { listThrough, type AggregateList } from './listThrough.ts';
import type { AggregateOptions } from './shown.ts';

export class Aggregate {
  readonly #options: AggregateOptions;
  readonly #contracts: Contracts;

  constructor(options: AggregateOptions) {
    this.#options = options;
    this.#contracts = new Contracts(options.naming);
  }

  /** One page of everything. Throws an McpError for a cursor that is not ours or whose routes are no longer these. */
  list(cursor: string | undefined, signal: AbortSignal): Promise<AggregateList> {
    return listThrough(this.#options, cursor, signal);
  }

  /** Calls a tool by its agent's name. Throws an McpError: the owner's own, or why there is no answer. */
  call(params: CallParams, options: CallOptions): Promise<CallResult> {
    return callThrough(this.#options, this.#contracts, params, options);
  }
}
