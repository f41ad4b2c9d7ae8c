/**
 * Whoever answers for the tools of one route. A remote client and a process share what they answer with, not a base class: every
 * answer is an outcome of the wire, and a failure says whether the other side may have acted.
 */
import type { CallResult, Outcome, RequestOptions, ToolCall, ToolPage } from '../../protocol/index.ts';

export interface Owner {
  /** One page of its tools, read now. */
  listPage(cursor: string | undefined, options: RequestOptions): Promise<Outcome<ToolPage>>;
  /** Calls a tool, at most once, by the contract that the call carries. */
  callTool(call: ToolCall, options: RequestOptions): Promise<Outcome<CallResult>>;
  /** How often it has said that its tools changed; undefined when it does not promise to say so. */
  changes(): number | undefined;
  /** Resolves with why when it is gone by itself; never for what has no life of its own. */
  readonly exited: Promise<string>;
  close(): Promise<void>;
}
