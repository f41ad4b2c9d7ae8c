/** What an operation over the wire comes to: a value, or a failure that says what it means and what to do. */
import { type FailureKind, McpError, type RejectionCode } from './errors.ts';
import type { RpcError } from './jsonrpc.ts';

/** Why an operation has no value. `error` is what the server said, `message` is ours and may be shown. */
export interface Failure {
  readonly kind: FailureKind;
  /** The server's code; 428 for a bare status of that number. Undefined when no answer came. */
  readonly code: number | undefined;
  readonly status: number | undefined;
  readonly message: string;
  readonly error: RpcError | undefined;
  readonly retryAfterMs: number | undefined;
  /** Whether the server may have acted although there is no answer: a call like that is never repeated by us. */
  readonly mayHaveRun: boolean;
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** A failure of a kind; what is not given is unknown. */
export function fail(
  kind: FailureKind,
  message: string,
  rest: Partial<Failure> = {},
): Outcome<never> & { readonly ok: false } {
  const none = { code: undefined, status: undefined, error: undefined, retryAfterMs: undefined, mayHaveRun: false };
  return { ok: false, failure: { ...none, ...rest, kind, message } };
}

/** The code of an overlay when a failure is a rejection (428, -33001, -33002), else undefined. Law L5. */
export function rejectionOf(failure: Failure): RejectionCode | undefined {
  return failure.kind === 'rejected' ? (failure.code as RejectionCode) : undefined;
}

const codeOfKind: Readonly<Record<FailureKind, number>> = {
  rejected: -33001,
  unavailable: -33003,
  timeout: -33004,
  limited: -33005,
  protocol: -33006,
  contract: -33006,
  session: -33003,
  error: -32603,
  aborted: -32603,
};

const notSignedIn = "the account's session is not accepted: sign the account in again; nothing was called";

/** Marks an error as a matter of the account's own session: neither waiting nor authorizing the connector helps. */
export const sessionRefused = { accountSession: 'refused' } as const;

/**
 * A failure as the error an agent is answered with: the server's own code and data where it gave some, else the kind's code. What
 * answers this request alone is told in-band, with HTTP status 200.
 */
export function failureError(failure: Failure): McpError {
  const { kind, error, message, retryAfterMs, mayHaveRun } = failure;
  // Whatever code it came with: a gateway's word about our session is none about this request.
  if (kind === 'session') return new McpError(-33003, { message: notSignedIn, data: sessionRefused });
  const rest = {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(kind === 'error' ? { httpStatus: 200 } : {}),
  };
  if (error !== undefined && failure.code === error.code) {
    const dataText = error.dataText === undefined ? {} : { dataText: error.dataText };
    return new McpError(error.code, { message: error.message, ...dataText, ...rest });
  }
  const code = failure.code === undefined || failure.code === 428 ? codeOfKind[kind] : failure.code;
  return new McpError(code, { message, ...(mayHaveRun ? { data: { outcomeUnknown: true } } : {}), ...rest });
}
