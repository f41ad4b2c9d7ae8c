/**
 * The ways in which an upstream can fail a call: for each what the caller is told, and what the authority is told.
 *
 * Every message is ours. What an upstream writes reaches a caller only in a JSON-RPC error that is its own business; never in one
 * that speaks of authorization, because an upstream could then withdraw a route. DESIGN 7, threat C39.
 */
import type { CallOutcome } from '../../protocol/authority.ts';
import { isReservedCode, McpError } from '../../protocol/errors.ts';
import type { McpErrorOptions } from '../../protocol/errors.ts';
import type { RpcError } from '../../protocol/jsonrpc.ts';

/** A call that ended without a result. `answer` goes to the caller; `outcome` and `detail` to the authority. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  constructor(
    readonly answer: McpError,
    readonly outcome: CallOutcome,
    /** A word without content: `http 401`, `-32602`, `cut`. */
    readonly detail: string,
  ) {
    super(detail);
  }
}

/** The upstream did not accept the credential that was injected: this connection no longer holds. */
export const refused = (status: number): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33002), 'upstream_refused', `http ${status}`);

/** Nothing was answered, or a 5xx was. */
export const unreachable = (detail: string, retryAfterMs?: number): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33003, waiting(retryAfterMs)), 'upstream_unavailable', detail);

export const timedOut = (phase: string): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33004), 'upstream_timeout', phase);

/** The upstream, or one of our own limits before it, asks to wait. */
export const limited = (detail: string, retryAfterMs?: number): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33005, waiting(retryAfterMs)), 'upstream_limited', detail);

/** Our own limit: nothing was sent. */
export const notAdmitted = (detail: string, retryAfterMs: number): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33005, waiting(retryAfterMs)), 'not_sent', detail);

/** The upstream is known to be down: nothing was sent, so a repetition may be made. */
export const notTried = (retryAfterMs: number): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33003, waiting(retryAfterMs)), 'not_sent', 'breaker open');

/** `why` is a sentence about form, without content of the upstream's. */
export const outsideProtocol = (why: string, detail = 'malformed'): UpstreamFailure =>
  new UpstreamFailure(new McpError(-33006, { message: `the connector answered outside the protocol: ${why}` }), 'upstream_protocol', detail); // prettier-ignore

/** The caller went away. Nobody reads the answer. */
export const canceled = (): UpstreamFailure =>
  new UpstreamFailure(new McpError(-32603, { message: 'the caller went away' }), 'canceled', 'canceled');

/** -32042 asks for input by URL, which was not offered; the range is the specification's and speaks of our own hop. */
const asksForInput = (code: number): boolean => code === -32042 || (code <= -32020 && code >= -32099);

/** A JSON-RPC error of the upstream: its own business, or one that only a gateway may say. HTTP 200, as the SDK answers. */
export function rpcFailure(error: RpcError): UpstreamFailure {
  if (isReservedCode(error.code) || asksForInput(error.code))
    return outsideProtocol('it used an error code that is not its own', String(error.code));
  const { message, dataText } = error;
  const answer = new McpError(error.code, {
    message,
    httpStatus: 200,
    ...(dataText === undefined ? {} : { dataText }),
  });
  return new UpstreamFailure(answer, 'rpc_error', String(error.code));
}

/** In the header and in the error: an event stream that has begun has no header left to say it in. */
function waiting(retryAfterMs: number | undefined): McpErrorOptions {
  return retryAfterMs === undefined ? {} : { retryAfterMs, data: { retryAfterMs } };
}
