/**
 * `tools/call`: one decision, one agreement about headers, at most one call of the upstream that may have run. Law L17.
 */
import type { CallToolAnswer, Refusal } from '../protocol/authority.ts';
import { McpError } from '../protocol/errors.ts';
import { isObject, member, spliceMembers } from '../protocol/json.ts';
import { encodeNotification } from '../protocol/jsonrpc.ts';
import type { Notification } from '../protocol/jsonrpc.ts';
import { methods } from '../protocol/mcp.ts';
import type { ParameterBinding } from '../protocol/parameters.ts';
import { callResultText } from '../protocol/results.ts';
import { readCallParams } from '../protocol/server.ts';
import type { CallParams } from '../protocol/server.ts';
import { agree, notSent, reread } from './agreement.ts';
import type { Source } from './agreement.ts';
import { argumentDigest } from './argumentDigest.ts';
import type { Door } from './door.ts';
import { asking, forward, orThrow, permission } from './forwarding.ts';
import type { Done } from './forwarding.ts';
import type { Inbound } from './inbound.ts';
import { decidedText, refusalError } from './refusals.ts';
import type { UpstreamCall, Way } from './upstream/adapter.ts';
import { UpstreamFailure } from './upstream/failure.ts';
import { modern } from './upstream/modern.ts';

/** Answers the text of the result. Throws `McpError`. */
export async function call(door: Door, inbound: Inbound): Promise<string> {
  const asked = readCall(inbound);
  const { clientInfo } = inbound;
  const scope = door.contracts.scopeOf(inbound.identity);
  const definitionHash = scope === undefined ? undefined : door.contracts.find(scope, asked.name)?.definitionHash;
  const answer = await door.authority.callTool(
    {
      token: inbound.token,
      connectorId: inbound.connectorId,
      connectorVersion: inbound.connectorVersion,
      toolName: asked.name,
      argumentDigest: argumentDigest(asked.args?.text ?? '{}'),
      remoteIp: inbound.remoteIp,
      traceId: inbound.traceId,
      ...(definitionHash === undefined ? {} : { definitionHash }),
      ...(asked.confirmId === undefined ? {} : { confirmId: asked.confirmId }),
      ...(asked.idempotencyKey === undefined ? {} : { idempotencyKey: asked.idempotencyKey }),
      ...(clientInfo === undefined ? {} : { clientName: clientInfo.name, clientVersion: clientInfo.version }),
    },
    asking(door, inbound),
  );
  if (answer.outcome !== 'authorized') return decided(answer);
  const { upstream, callId, principal } = answer;
  door.contracts.given(inbound.identity, upstream.contractScope);
  const allowed = permission(inbound, { callId, principal, upstream }, asked.idempotencyKey !== undefined);
  const confirmed = answer.risk === 'HIGH' ? definitionHash : undefined;
  return forward(door, allowed, (adapter, way) =>
    send(door, inbound, asked, { adapter, way, scope: upstream.contractScope, confirmed }),
  );
}

interface Sending extends Source {
  /** Hash of the definition that a person confirmed; undefined where nobody had to. */
  readonly confirmed: string | undefined;
}

async function send(door: Door, inbound: Inbound, asked: Asked, sending: Sending): Promise<Done<string>> {
  const { way, scope } = sending;
  const once = async (): Promise<Done<string>> => {
    const tool = await agree(door, inbound, asked, sending);
    if (sending.confirmed !== undefined && sending.confirmed !== tool.definitionHash) throw changed();
    const result = await sending.adapter.call(way, upstreamCall(inbound, asked, tool.bindings, way));
    const text = way.redact(callResultText(result));
    return { value: text, outcome: result.isError ? 'tool_error' : 'succeeded', stored: text };
  };
  try {
    return await once();
  } catch (error) {
    if (!isOutdated(error, sending) || door.contracts.isFresh(scope)) throw error;
    await reread(door, sending, asked.name);
    return once();
  }
}

/**
 * The upstream refused our headers and ran nothing: the contract we hold is not its own any more. In the older era no header repeats
 * an argument, so there the same number may stand behind a call that has run.
 */
function isOutdated(error: unknown, { adapter }: Sending): boolean {
  if (adapter !== modern || !(error instanceof UpstreamFailure)) return false;
  return error.outcome === 'upstream_protocol' && error.detail === '-32020';
}

const changed = (): UpstreamFailure =>
  notSent(new McpError(-32602, { message: "the tool's definition has changed since it was confirmed; list and confirm again", httpStatus: 200 })); // prettier-ignore

function upstreamCall(
  inbound: Inbound,
  { name, args, metaText }: Asked,
  bindings: readonly ParameterBinding[],
  way: Way,
): UpstreamCall {
  const onNotification = (notification: Notification): void => pass(inbound, way, notification);
  return { name, args, bindings, carriedText: metaText, progressToken: inbound.progressToken, onNotification };
}

/** Only progress of this very request goes on; anything else the upstream says on the way was not asked for. */
function pass(inbound: Inbound, way: Way, { method, params, paramsText }: Notification): void {
  if (method !== methods.progress || inbound.progressToken === undefined || params === undefined) return;
  if (member(params, 'progressToken') !== inbound.progressToken) return;
  inbound.event(way.redact(encodeNotification(method, paramsText)));
}

/** What a call asks for, read from its params and headers. */
export interface Asked extends CallParams {
  readonly confirmId: string | undefined;
  readonly idempotencyKey: string | undefined;
}

const KEY = /^[\x21-\x7e]{1,256}$/;

function readCall({ request, headers }: Inbound): Asked {
  const params = orThrow(readCallParams(request));
  const meta = member(request.params ?? {}, '_meta');
  const said = (key: string, header: string): string | undefined => {
    const given = (isObject(meta) ? member(meta, key) : undefined) ?? headers[header];
    if (given === undefined) return undefined;
    if (typeof given === 'string' && KEY.test(given)) return given;
    throw new McpError(-32602, { message: `${key} must be 1 to 256 printable characters without spaces` });
  };
  return {
    ...params,
    metaText: carried(params.metaText, meta),
    confirmId: said('confirm_id', 'mcp-confirm-id'),
    idempotencyKey: said('idempotency_key', 'idempotency-key'),
  };
}

/** Keys that speak to this door are no business of the upstream. */
const ours: ReadonlyMap<string, undefined> = new Map([
  ['confirm_id', undefined],
  ['idempotency_key', undefined],
]);

function carried(metaText: string | undefined, meta: unknown): string | undefined {
  const speaks = isObject(meta) && [...ours.keys()].some((key) => Object.hasOwn(meta, key));
  return speaks && metaText !== undefined ? spliceMembers(metaText, ours) : metaText;
}

/** The text of a decision that ends the call, or the error that it is. */
function decided(answer: Exclude<CallToolAnswer, { readonly outcome: 'authorized' }>): string {
  const text = isDecision(answer) ? decidedText(answer) : refusalError(answer);
  if (typeof text === 'string') return text;
  throw text;
}

const isDecision = (
  answer: CallToolAnswer,
): answer is Exclude<CallToolAnswer, Refusal | { readonly outcome: 'authorized' }> =>
  answer.outcome === 'confirm_required' || answer.outcome === 'in_flight' || answer.outcome === 'replay';
