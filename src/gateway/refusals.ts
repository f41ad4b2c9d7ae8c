/**
 * What the authority's answers without an upstream become on the wire of door 1.
 */
import type { CallToolAnswer, Refusal, StoredOutcome } from '../protocol/authority.ts';
import { McpError } from '../protocol/errors.ts';
import { isObject, member, parseJson, rawMember } from '../protocol/json.ts';
import { toolErrorText } from '../protocol/results.ts';
import { RETRY_MS } from './bounds.ts';

/** The error of a refusal. Nothing of it speaks of authorization unless the authority did. */
export function refusalError(refusal: Refusal): McpError {
  const { message } = refusal;
  switch (refusal.outcome) {
    case 'unauthenticated':
      return new McpError(-32600, { message: 'the account session is not accepted; sign in again', httpStatus: 401 });
    case 'insufficient_scope':
      return new McpError(-32600, { message, httpStatus: 403, data: { requiredScopes: refusal.requiredScopes } });
    case 'authorization_required':
      return new McpError(-33001);
    case 'reauth_required':
      return new McpError(-33002);
    case 'unavailable':
      return new McpError(-33003, { retryAfterMs: refusal.retryAfterMs ?? RETRY_MS });
    case 'rejected':
      return rejection(refusal.reason, message);
  }
}

/** HTTP statuses by reason: what the release and the server disagree about is 404 or 409, so that a client sees a contract, not a call. */
const statuses: Readonly<Partial<Record<(Refusal & { outcome: 'rejected' })['reason'], number>>> = {
  unknown_connector: 404,
  connector_version_unsupported: 409,
  contract: 409,
  account_disabled: 403,
  unknown_tool: 200,
};

function rejection(reason: (Refusal & { outcome: 'rejected' })['reason'], message: string): McpError {
  if (reason === 'limited') return new McpError(-33005, { retryAfterMs: RETRY_MS });
  return new McpError(-32602, { message, httpStatus: statuses[reason] ?? 400, data: { reason } });
}

type Ended = Extract<CallToolAnswer, { readonly outcome: 'confirm_required' | 'in_flight' | 'replay' }>;

/** The result text of a call that ends with the authority's decision, or the error that it was. */
export function decidedText(answer: Ended): string | McpError {
  switch (answer.outcome) {
    case 'in_flight':
      return new McpError(-33005, { message: answer.message, retryAfterMs: answer.retryAfterMs ?? RETRY_MS });
    case 'replay':
      return storedText(answer.stored);
    case 'confirm_required':
      return confirmText(answer);
  }
}

/** A result that the model can read, with what a program needs beside it. Nothing was executed. */
function confirmText({
  confirmId,
  expiresAtMs,
  summary,
  risk,
  message,
}: Extract<Ended, { outcome: 'confirm_required' }>): string {
  return JSON.stringify({
    resultType: 'complete',
    content: [{ type: 'text', text: `${message} ${summary} (confirmation ${confirmId})` }],
    isError: true,
    _meta: { 'sh.dacapo/confirmation': { confirmId, expiresAtMs, summary, risk } },
  });
}

const codes = {
  upstream_refused: -33002,
  upstream_unavailable: -33003,
  upstream_timeout: -33004,
  upstream_limited: -33005,
  upstream_protocol: -33006,
} as const;

function storedText({ outcome, result, detail }: StoredOutcome): string | McpError {
  if (outcome === 'rpc_error') return storedError(result, detail);
  if (Object.hasOwn(codes, outcome)) return new McpError(codes[outcome as keyof typeof codes]);
  if (result !== '') return result;
  return toolErrorText(`this call was already made and ended (${outcome}); its result was not kept`);
}

function storedError(text: string, detail: string): McpError {
  const stored = text === '' ? undefined : parseJson(text);
  const [code, message] = isObject(stored?.value)
    ? [member(stored.value, 'code'), member(stored.value, 'message')]
    : [];
  if (typeof code !== 'number' || typeof message !== 'string')
    return new McpError(-32603, { message: `this call was already made and failed (${detail})` });
  const dataText = rawMember(stored?.text ?? '', 'data');
  return new McpError(code, { message, httpStatus: 200, ...(dataText === undefined ? {} : { dataText }) });
}
