/**
 * What the control plane and the admin door turn down, as one closed table: code → HTTP status and whether trying again may help.
 * The message says what to do next and quotes nothing of the request.
 */
export const problemTable = {
  malformed: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  account_disabled: { status: 403, retryable: false },
  origin_refused: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  account_not_found: { status: 404, retryable: false },
  connector_not_found: { status: 404, retryable: false },
  session_not_found: { status: 404, retryable: false },
  confirmation_not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  connector_version_unsupported: { status: 409, retryable: false },
  authorization_kind_unsupported: { status: 409, retryable: false },
  session_active: { status: 409, retryable: false },
  session_finished: { status: 409, retryable: false },
  request_reused: { status: 409, retryable: false },
  not_connected: { status: 409, retryable: false },
  confirmation_finished: { status: 409, retryable: false },
  too_large: { status: 413, retryable: false },
  media_type: { status: 415, retryable: false },
  rate_limited: { status: 429, retryable: true },
  unavailable: { status: 503, retryable: true },
} as const;

export type ProblemCode = keyof typeof problemTable;

/** A refusal that a person or program can act on. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: (typeof problemTable)[ProblemCode]['status'];
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  constructor(code: ProblemCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.status = problemTable[code].status;
    this.retryable = problemTable[code].retryable;
    this.retryAfterMs = retryAfterMs;
  }
}
