/**
 * One table of errors: code, name, meaning, HTTP status and what a client does. One classifier for activation, list and call.
 *
 * There is one, because two readers of the same answer that disagree leave a route shown that the server has refused. Source: seed 1
 * "error handling", facts 1.5 of MCP, 1.7 of the client.
 */
import type { HeaderFields } from './fields.ts';
import { isObject, member } from './json.ts';
import type { RpcError } from './jsonrpc.ts';
import { clampDelay, limits } from './limits.ts';

/**
 * What a client does with a failure. `rejected`: no route, start or resume authorization. `unavailable`: keep the installation, show it,
 * try later. `timeout`: show; only a person or agent tries again. `limited`: wait as told. `protocol`: show an integration fault,
 * never an authorization one. `contract`: this release and this server do not fit. `session`: the account's own session is not
 * accepted. `error`: the answer to this request alone; pass it on. `aborted`: we ended it.
 */
export type FailureKind =
  'rejected' | 'unavailable' | 'timeout' | 'limited' | 'protocol' | 'contract' | 'session' | 'error' | 'aborted';

export interface ErrorRow {
  readonly code: number;
  readonly name: string;
  /** The HTTP status it is answered with. */
  readonly status: number;
  readonly kind: FailureKind;
  readonly meaning: string;
}

const row = (code: number, name: string, status: number, kind: FailureKind, meaning: string): ErrorRow => ({
  code,
  name,
  status,
  kind,
  meaning,
});

/** Every code we emit or understand. */
export const errorTable: readonly ErrorRow[] = [
  row(-33001, 'authorization_required', 428, 'rejected', 'no connection of this account; authorize the connector'),
  row(-33002, 'reauth_required', 428, 'rejected', 'the connection has expired; authorize the connector again'),
  row(-33003, 'connector_unavailable', 503, 'unavailable', 'the connector is temporarily unavailable'),
  row(-33004, 'upstream_timeout', 504, 'timeout', 'the connector did not answer in time; whether it acted is unknown'),
  row(-33005, 'upstream_rate_limited', 429, 'limited', 'too many requests; try again after the time given'),
  row(-33006, 'upstream_protocol_error', 502, 'protocol', 'the connector answered outside the protocol'),
  row(-32700, 'parse_error', 400, 'error', 'the body is not valid JSON'),
  row(-32600, 'invalid_request', 400, 'error', 'the body is not one JSON-RPC request'),
  row(-32601, 'method_not_found', 404, 'contract', 'the method is not supported here'),
  row(-32602, 'invalid_params', 400, 'error', 'the parameters are missing something or wrong'),
  row(-32603, 'internal_error', 500, 'error', 'an internal error'),
  row(-32020, 'header_mismatch', 400, 'contract', 'a header is missing or differs from the body'),
  row(-32021, 'missing_client_capability', 400, 'protocol', 'a client capability is needed that was not declared'),
  row(-32022, 'unsupported_protocol_version', 400, 'contract', 'the protocol version is not supported here'),
];

const byCode: ReadonlyMap<number, ErrorRow> = new Map(errorTable.map((entry) => [entry.code, entry]));

/** The row of a code; undefined for a code that is not ours or the protocol's. */
export function errorRow(code: number): ErrorRow | undefined {
  return byCode.get(code);
}

/** Codes that only our own gateway may say. An upstream that says one of them is passed on as -33006. Threat C39. */
export function isReservedCode(code: number): boolean {
  return (code <= -33001 && code >= -33006) || (code <= -32020 && code >= -32022);
}

export interface McpErrorOptions {
  readonly message?: string;
  readonly data?: unknown;
  /** The text of `data` as an upstream sent it. */
  readonly dataText?: string;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
}

/** An error of the table, to be answered or passed on. The message is ours or an upstream's own; it never holds a secret. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly dataText: string | undefined;
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
  constructor(code: number, options: McpErrorOptions = {}) {
    const known = byCode.get(code);
    super(options.message ?? known?.meaning ?? 'error');
    this.name = known?.name ?? 'upstream_error';
    this.code = code;
    this.data = options.data;
    this.dataText = options.dataText;
    this.httpStatus = options.httpStatus ?? known?.status ?? 200;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** The error object of a JSON-RPC response. */
  get rpc(): RpcError {
    const { code, message, data, dataText } = this;
    return { code, message, ...(data === undefined ? {} : { data }), ...(dataText === undefined ? {} : { dataText }) };
  }
}

/** A JSON-RPC error as it came in an answer, or the bare status of an answer without one. */
export interface Answer {
  readonly status: number;
  readonly error?: RpcError | undefined;
  readonly headers?: HeaderFields | undefined;
}

/** The codes that withdraw a route: 428 stands for a bare HTTP status without a body we could read. */
export type RejectionCode = 428 | -33001 | -33002;

export type Verdict =
  | { readonly kind: 'rejected'; readonly code: RejectionCode; readonly retryAfterMs: number | undefined }
  | {
      readonly kind: Exclude<FailureKind, 'rejected'>;
      readonly code: number | undefined;
      readonly retryAfterMs: number | undefined;
    };

/**
 * What a failed answer means. A code of the table decides; without one the HTTP status does; an unknown code in a successful
 * HTTP answer is the answer to this request alone. `nowMs` serves Retry-After dates.
 */
export function classify(answer: Answer, nowMs: number): Verdict {
  const code = answer.error?.code;
  const retryAfterMs = retryAfter(answer, nowMs);
  if (code === -33001 || code === -33002) return { kind: 'rejected', code, retryAfterMs };
  const known = code === undefined ? undefined : byCode.get(code);
  if (known !== undefined && known.kind !== 'error' && known.kind !== 'rejected')
    return { kind: known.kind, code, retryAfterMs };
  if (answer.status === 428) return { kind: 'rejected', code: 428, retryAfterMs };
  return { kind: kindOfStatus(answer.status, code), code, retryAfterMs };
}

function kindOfStatus(status: number, code: number | undefined): Exclude<FailureKind, 'rejected'> {
  if (status >= 200 && status < 300) return code === undefined ? 'protocol' : 'error';
  if (status === 401 || status === 403) return 'session';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'limited';
  if (status === 404 || status === 405 || status === 409 || status === 410) return 'contract';
  if (status === 502) return 'protocol';
  if (status >= 500) return 'unavailable';
  return code === undefined ? 'protocol' : 'error';
}

/** The reason of `route.openFailed` for a failure of an activation: the words of the log, not of the wire. */
export type OpenFailure = 'rejected' | 'contract' | 'unavailable' | 'timeout' | 'limited' | 'protocol' | 'aborted';

/** An error that answers this request alone is, at an activation, a server that does not keep its contract. */
export function openFailure(kind: FailureKind): OpenFailure {
  if (kind === 'error') return 'contract';
  return kind === 'session' ? 'unavailable' : kind;
}

function retryAfter(answer: Answer, nowMs: number): number | undefined {
  const header = answer.headers === undefined ? undefined : retryAfterFields(answer.headers);
  const data = answer.error?.data;
  const said = isObject(data) ? member(data, 'retryAfterMs') : undefined;
  const fromData = typeof said === 'number' && Number.isFinite(said) && said >= 0 ? said : undefined;
  return parseRetryAfter(header, nowMs) ?? (fromData === undefined ? undefined : boundRetry(fromData));
}

function retryAfterFields(headers: HeaderFields): string | readonly string[] | undefined {
  return Object.hasOwn(headers, 'retry-after') ? headers['retry-after'] : undefined;
}

const SECONDS = /^[0-9]{1,15}$/;
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * Milliseconds to wait, between one second and one hour, from one or more `Retry-After` values: seconds or an HTTP date. Of
 * several the longest counts; what is neither is ignored, so that garbage never becomes a hot loop. Fault D39.
 */
export function parseRetryAfter(value: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  const waits = values.map((text) => waitOf(text.trim(), nowMs)).filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : boundRetry(Math.max(...waits));
}

function waitOf(text: string, nowMs: number): number | undefined {
  if (SECONDS.test(text)) return Number(text) * 1000;
  const at = HTTP_DATE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at - nowMs;
}

const boundRetry = (ms: number): number => clampDelay(Math.max(ms, limits.minRetryMs));

/** The value of a `Retry-After` header: whole seconds, rounded up, at least one. */
export function formatRetryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(clampDelay(ms) / 1000)));
}
