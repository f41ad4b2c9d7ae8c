/** HTTP answers of an MCP endpoint, as values: whoever owns the socket only writes them. */
import { errorRow, formatRetryAfter, McpError } from './errors.ts';
import { encodeError, encodeResult, type Id } from './jsonrpc.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The modern era tells an error by status too; the era before it tells it in-band. */
export type Era = 'modern' | 'legacy';

const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'private, no-store' } as const;

export function answerResult(id: Id, resultText: string): HttpAnswer {
  return { status: 200, headers: jsonHeaders, body: encodeResult(id, resultText) };
}

/** The answer for an error of the table, with `Retry-After` where a delay is known. */
export function answerError(id: Id | null, error: McpError, era: Era = 'modern'): HttpAnswer {
  const retry = error.retryAfterMs === undefined ? {} : { 'retry-after': formatRetryAfter(error.retryAfterMs) };
  const inBand = era === 'legacy' && id !== null;
  return {
    status: inBand ? 200 : error.httpStatus,
    headers: { ...jsonHeaders, ...retry },
    body: encodeError(id, error.rpc),
  };
}

/** A request that is refused before its body counts: by method, type, size, host, or token. */
export function answerHttp(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const error = new McpError(-32600, { message, httpStatus: status });
  return { status, headers: { ...jsonHeaders, ...headers }, body: encodeError(null, error.rpc) };
}

/** A notification was taken. There is nothing to say. */
export const accepted: HttpAnswer = { status: 202, headers: { 'cache-control': 'private, no-store' }, body: '' };

/** An error that is not in our table becomes -32603 with our own words: a foreign message may hold anything. */
export function errorOf(cause: unknown): McpError {
  return cause instanceof McpError && (errorRow(cause.code) !== undefined || cause.httpStatus === 200)
    ? cause
    : new McpError(-32603);
}
