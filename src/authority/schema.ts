/**
 * The tables, as Kysely sees them. Times are milliseconds since the epoch; booleans are 0 and 1. Revision and connection version
 * are counted here by ones from 0, so a JavaScript number holds them exactly; on the wire they are decimal text.
 */
import type { Generated } from 'kysely';

export interface Schema {
  meta: { key: string; value: string };
  accounts: {
    id: string;
    number: Generated<number>;
    display_name: string;
    enabled: number;
    revision: number;
    created_at: number;
  };
  account_sessions: {
    id: string;
    account_id: string;
    token_hash: string;
    created_at: number;
    expires_at: number;
    revoked_at: number | null;
  };
  /** Rows are written as drafts and, once published, never change: a trigger refuses it. */
  bindings: {
    sequence: Generated<number>;
    ref: string;
    revision: number;
    connector_id: string;
    status: 'draft' | 'published';
    content: string;
    contract_hash: string;
    created_at: number;
    published_at: number | null;
  };
  /** One row for each account and connector that ever met. Never deleted, so that `version` never goes back. */
  authorizations: {
    account_id: string;
    connector_id: string;
    version: number;
    default_connection_id: string | null;
  };
  connections: {
    id: string;
    account_id: string;
    connector_id: string;
    state: 'connected' | 'reauth_required';
    connector_version: string;
    reason: string;
    created_at: number;
    updated_at: number;
  };
  secrets: {
    connection_id: string;
    field: string;
    key_id: string;
    nonce: Buffer;
    ciphertext: Buffer;
    schema: number;
  };
  account_keys: {
    id: string;
    account_id: string;
    kek_id: string;
    nonce: Buffer;
    wrapped: Buffer;
    writes: number;
    created_at: number;
    retired_at: number | null;
  };
  used_nonces: { key_id: string; nonce: Buffer };
  authorization_sessions: {
    id: string;
    account_id: string;
    connector_id: string;
    connector_version: string;
    client_request_id: string;
    status: SessionStatus;
    result_connection_id: string;
    error_code: string;
    created_at: number;
    expires_at: number;
  };
  /** What was authorized: the only thing an outcome can be reported for. */
  calls: {
    id: string;
    kind: 'list' | 'call';
    account_id: string;
    connector_id: string;
    connection_id: string;
    connection_version: number;
    tool_name: string;
    argument_digest: string;
    idempotency_key: string | null;
    decided_at: number;
    ended_at: number | null;
    outcome: string | null;
    outcome_detail: string;
    result_key_id: string | null;
    result_nonce: Buffer | null;
    result: Buffer | null;
  };
  confirmations: {
    id: string;
    account_id: string;
    connector_id: string;
    connection_id: string;
    tool_name: string;
    argument_digest: string;
    definition_hash: string;
    idempotency_key: string;
    state: 'pending' | 'approved' | 'denied' | 'consumed';
    decided_by: string;
    created_at: number;
    expires_at: number;
  };
  outbox: { sequence: Generated<number>; dedupe_id: string; payload: string; created_at: number };
  audit_log: {
    sequence: Generated<number>;
    dedupe_id: string;
    account_id: string;
    payload: string;
    recorded_at: number;
  };
}

export type SessionStatus = 'AWAITING_USER' | 'SUCCEEDED' | 'FAILED' | 'CANCELED';
