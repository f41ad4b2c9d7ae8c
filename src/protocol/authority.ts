/**
 * The contract between a door (gateway) and the one who decides (authority), in our own words: three questions, the token
 * being the only statement of identity, and answers in which no two outcomes look alike. Seed 2; DESIGN 8.
 *
 * An `AuthorityPort` may be an object in the same process or a gRPC client (authorityWire.ts holds the translation); whoever
 * asks cannot tell. A port never throws for something that can happen: it answers `unavailable`.
 */
import type { Stop } from './stop.ts';

/** How long a question may take, and how to give it up. */
export interface AskOptions {
  readonly stop?: Stop;
  readonly deadlineMs?: number;
}

export interface AuthorityPort {
  /** What this identity may see of a connector; with `probe` only whether it may see anything at all. */
  listTools(request: ListToolsRequest, options?: AskOptions): Promise<ListToolsAnswer>;
  /** The one decision about one call. `authorized` obliges the door to report the outcome under `callId`. */
  callTool(request: CallToolRequest, options?: AskOptions): Promise<CallToolAnswer>;
  /** How an authorized call ended. `true` when it is recorded, now or earlier; `false` when nobody knows the call or nobody answered. */
  audit(report: OutcomeReport, options?: AskOptions): Promise<boolean>;
}

export interface ListToolsRequest {
  readonly token: string;
  readonly connectorId: string;
  readonly connectorVersion: string;
  /** Binding and connection state only: no credential in the answer and no call to report (`server/discover`). */
  readonly probe: boolean;
  readonly traceId?: string;
}

export interface CallToolRequest {
  readonly token: string;
  readonly connectorId: string;
  readonly connectorVersion: string;
  readonly toolName: string;
  /** Digest of the canonical arguments with its scheme in front; see the door's own documentation. Never the arguments. */
  readonly argumentDigest: string;
  /** Hash of the tool's definition as the door last served it: a confirmation given for another definition is void. */
  readonly definitionHash?: string;
  readonly confirmId?: string;
  readonly idempotencyKey?: string;
  readonly clientName?: string;
  readonly clientVersion?: string;
  readonly remoteIp?: string;
  readonly traceId?: string;
}

/** How a call ended, as the door saw it. */
export const callOutcomes = [
  'succeeded',
  'tool_error',
  'rpc_error',
  'upstream_refused',
  'upstream_unavailable',
  'upstream_timeout',
  'upstream_limited',
  'upstream_protocol',
  'canceled',
  'not_sent',
] as const;
export type CallOutcome = (typeof callOutcomes)[number];

export interface OutcomeReport {
  readonly callId: string;
  readonly outcome: CallOutcome;
  readonly durationMs: number;
  readonly traceId?: string;
  /** A word or short sentence without arguments, results or secrets: `http 401`, `-32602`. */
  readonly detail?: string;
  /** JSON text for a repeated call with the same idempotency key, already bounded by the door. */
  readonly result?: string;
}

export type Risk = 'LOW' | 'MEDIUM' | 'HIGH';

export interface Principal {
  readonly tenantId: bigint;
  readonly principalId: bigint;
  readonly principalType: 'USER' | 'SERVICE_ACCOUNT' | 'SYSTEM';
  readonly principalName: string;
  readonly displayName: string;
  readonly clientId: string;
}

export interface UpstreamLimits {
  readonly connectMs?: number;
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  readonly totalMs?: number;
  readonly requestBytes?: number;
  readonly resultBytes?: number;
  readonly concurrency?: number;
}

export type Injection =
  | { readonly kind: 'none' }
  | { readonly kind: 'header'; readonly name: string; readonly prefix: string }
  | { readonly kind: 'query'; readonly name: string };

export type UpstreamMode = 'modern' | 'legacy' | 'http';

/** Where to forward this one call and with what. Held for that call, never logged, never passed on. */
export interface Upstream {
  readonly endpoint: string;
  readonly mode: UpstreamMode;
  /** Exact `host` or `host:port` values; the endpoint's must be among them. */
  readonly allowedHosts: readonly string[];
  /** The binding's operator says that this address may be loopback or private. */
  readonly privateNetwork: boolean;
  readonly injection: Injection;
  readonly credential: string;
  readonly limits: UpstreamLimits;
  /** Opaque key under which, and no other, a tool contract once read may be kept: it changes with account, connection, connectionVersion and binding revision. */
  readonly contractScope: string;
}

/** Where in the request of an HTTP operation an argument travels. */
export interface Parameter {
  readonly name: string;
  readonly location: 'path' | 'query' | 'body' | 'header';
  readonly wireName: string;
  readonly required: boolean;
}

/** The operation behind a tool of the authority's own catalogue; `null` where the upstream itself is an MCP server. */
export interface ResolvedTool {
  readonly toolId: string;
  readonly toolName: string;
  readonly permissionCode: string;
  readonly risk: Risk;
  readonly serviceName: string;
  readonly apiPath: string;
  readonly httpMethod: string;
  /** JSON text. */
  readonly inputSchema: string;
  readonly parameters: readonly Parameter[];
  readonly definitionHash: string;
}

/** A tool of the authority's own catalogue as `tools/list` shows it. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON text. */
  readonly inputSchema: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly toolId: string;
  readonly permissionCode: string;
  readonly risk: Risk;
  readonly definitionHash: string;
}

/** Answers that end a question without an upstream; the door maps each to its own status and code. */
export type Refusal =
  /** The token is missing, unknown, expired or revoked: 401. */
  | { readonly outcome: 'unauthenticated'; readonly message: string }
  | { readonly outcome: 'insufficient_scope'; readonly message: string; readonly requiredScopes: readonly string[] }
  /** No connection of this account: 428 and -33001. */
  | { readonly outcome: 'authorization_required'; readonly message: string }
  /** A connection whose credential no longer holds: 428 and -33002. */
  | { readonly outcome: 'reauth_required'; readonly message: string }
  | { readonly outcome: 'rejected'; readonly reason: RejectReason; readonly message: string }
  /** The authority is away, slow or broken: 503 and -33003, never a word about authorization. */
  | { readonly outcome: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

/** Closed list of what the authority turns down although it knows who asks. */
export const rejectReasons = [
  'unknown_connector',
  'connector_version_unsupported',
  'contract',
  'account_disabled',
  'unknown_tool',
  'confirmation_unknown',
  'confirmation_expired',
  'confirmation_mismatch',
  'confirmation_denied',
  'idempotency_key_required',
  'idempotency_conflict',
  'malformed',
  'limited',
  'other',
] as const;
export type RejectReason = (typeof rejectReasons)[number];

export type ListToolsAnswer =
  | Refusal
  | {
      readonly outcome: 'authorized';
      readonly principal: Principal;
      /** `null` for a probe. An upstream's refusal during the listing is reported under it, as with a call. */
      readonly callId: string | null;
      /** `null` for a probe. */
      readonly upstream: Upstream | null;
      /** Tools of the authority's own catalogue; empty where the upstream is an MCP server. */
      readonly tools: readonly ToolDefinition[];
    };

export type CallToolAnswer =
  | Refusal
  | {
      readonly outcome: 'confirm_required';
      readonly confirmId: string;
      readonly expiresAtMs: number;
      readonly summary: string;
      readonly risk: Risk;
      readonly message: string;
    }
  /** The same call, by its idempotency key, is being made right now. */
  | { readonly outcome: 'in_flight'; readonly message: string; readonly retryAfterMs?: number }
  /** The same call was made and ended; this is how. */
  | { readonly outcome: 'replay'; readonly stored: StoredOutcome }
  | {
      readonly outcome: 'authorized';
      readonly callId: string;
      readonly principal: Principal;
      readonly risk: Risk;
      readonly tool: ResolvedTool | null;
      readonly upstream: Upstream;
    };

export interface StoredOutcome {
  readonly outcome: CallOutcome;
  readonly detail: string;
  readonly result: string;
}
