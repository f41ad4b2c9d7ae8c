/** `tools/call` of everything: one owner, its contract as it is now, one call. */
import {
  fail,
  failureError,
  limits,
  McpError,
  spliceMembers,
  type CallParams,
  type CallResult,
  type Failure,
  type Outcome,
  type Tool,
} from '../../protocol/index.ts';
import type { PublishedRoute } from '../../reconcile/index.ts';
import { DeadlineError, within } from '../deadline.ts';
import type { Handle } from '../routes/handles.ts';
import { isShown, tellRejection, type AggregateOptions } from './shown.ts';
import type { Contracts } from './contracts.ts';

export interface CallOptions {
  readonly signal: AbortSignal;
  /** JSON text of the agent's token and what takes the params text of a notification; undefined when it asked for none. */
  readonly progress: { readonly tokenText: string; readonly onProgress: (paramsText: string) => void } | undefined;
}

export async function callThrough(
  options: AggregateOptions,
  contracts: Contracts,
  { name, args, metaText }: CallParams,
  { signal, progress }: CallOptions,
): Promise<CallResult> {
  const { route, handle } = ownerOf(options, name);
  const tool = contracts.known(handle, name) ?? (await contract(options, contracts, handle, name, signal));
  if (!tool.ok) throw refused(options, route, tool.failure);
  // Between the read and the call the route may have been withdrawn; there is no await from here to the call.
  if (!isShown(options, route, handle))
    throw refused(options, route, gone(route, 'before the call was made; nothing was called', false));
  const call = { name: tool.value.name, bindings: tool.value.bindings, args, onProgress: forwarded(progress) };
  const outcome = await handle.callTool(call, { signal, metaText });
  if (!outcome.ok) throw refused(options, route, outcome.failure);
  if (!isShown(options, route, handle))
    throw refused(options, route, gone(route, 'while the call ran; whether it acted is unknown', true));
  return outcome.value;
}

/** The one published route that a name can belong to. */
function ownerOf(
  { table, naming, handles, withheld }: AggregateOptions,
  name: string,
): { readonly route: PublishedRoute; readonly handle: Handle } {
  const owns = (connector: string): boolean => naming.owns(connector, name);
  const [route, ...others] = [...table().values()].filter(({ connector }) => owns(connector));
  const handle = route === undefined ? undefined : handles.find(route);
  if (route !== undefined && handle !== undefined && others.length === 0) return { route, handle };
  throw withheld(owns) ?? new McpError(-32602, { message: 'no connector has a tool of this name', httpStatus: 200 });
}

/** A call waits longer for its contract than a list for one part of many: nobody else waits with it. */
async function contract(
  { listDeadlineMs }: AggregateOptions,
  contracts: Contracts,
  handle: Handle,
  name: string,
  signal: AbortSignal,
): Promise<Outcome<Tool>> {
  const ms = Math.max(listDeadlineMs, limits.firstByteMs);
  try {
    return await within(ms, signal, (inner) => contracts.of(handle, name, { signal: inner }));
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    return fail('timeout', `the connector did not list its tools within ${ms} ms; nothing was called`);
  }
}

/** In-band: an HTTP status of this hop would be read as a fault of the agent's own access (peers 11). */
function refused(options: AggregateOptions, route: PublishedRoute, why: Failure): McpError {
  tellRejection(options, route, why);
  const { code, message, data, dataText, retryAfterMs } = failureError(why);
  const told = dataText === undefined ? { data } : { dataText };
  const retry = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new McpError(code, { message, httpStatus: 200, ...told, ...retry });
}

function gone({ connector }: PublishedRoute, when: string, mayHaveRun: boolean): Failure {
  return fail('unavailable', `${connector} was withdrawn ${when}`, { mayHaveRun }).failure;
}

/** The owner's progress under the agent's own token. */
function forwarded(progress: CallOptions['progress']): ((_: unknown, paramsText: string) => void) | undefined {
  if (progress === undefined) return undefined;
  const { tokenText, onProgress } = progress;
  return (_, paramsText) => onProgress(spliceMembers(paramsText, new Map([['progressToken', tokenText]])));
}
