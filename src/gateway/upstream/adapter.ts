/**
 * An upstream, whatever era it speaks: one page of its tools, or one call. A value, chosen by the binding's mode.
 */
import type { Upstream } from '../../protocol/authority.ts';
import type { Json } from '../../protocol/json.ts';
import type { Notification } from '../../protocol/jsonrpc.ts';
import type { Implementation, ProgressToken } from '../../protocol/mcp.ts';
import type { Sender } from '../../protocol/outgoing.ts';
import type { ParameterBinding } from '../../protocol/parameters.ts';
import type { CallResult, ToolPage } from '../../protocol/results.ts';
import type { Stop } from '../../protocol/stop.ts';
import type { Redact } from '../redact.ts';
import type { Wire } from '../egress/post.ts';
import { legacy } from './legacy.ts';
import { modern } from './modern.ts';
import type { Target } from './target.ts';

/** All that a request to an upstream needs, held for one call. */
export interface Way {
  readonly target: Target;
  readonly wire: Wire;
  readonly clientInfo: Implementation;
  readonly sender: Sender;
  /** Given up when the caller goes away. */
  readonly stop: Stop;
  /** When the whole call is over, by `nowMs`. */
  readonly endMs: number;
  readonly nowMs: () => number;
  /** Takes this call's credential out of JSON text. */
  readonly redact: Redact;
}

export interface UpstreamCall {
  readonly name: string;
  readonly args: Json | undefined;
  readonly bindings: readonly ParameterBinding[];
  /** The caller's `_meta`, as text; what is reserved in it is not carried on. */
  readonly carriedText: string | undefined;
  readonly progressToken: ProgressToken | undefined;
  readonly onNotification: (notification: Notification) => void;
}

/** Both throw `UpstreamFailure` and nothing else. */
export interface Adapter {
  list(way: Way, cursor: string | undefined): Promise<ToolPage>;
  call(way: Way, call: UpstreamCall): Promise<CallResult>;
}

/** The adapter of a mode; undefined for one that an MCP door does not serve. */
export function adapterOf(mode: Upstream['mode']): Adapter | undefined {
  return mode === 'modern' ? modern : mode === 'legacy' ? legacy : undefined;
}
