/** The questions of authority.ts and the report of an outcome, as messages and back. */
import { create } from '@bufbuild/protobuf';
import {
  GrpcMcpAuditCommandSchema,
  GrpcMcpAuditStatus,
  GrpcMcpCallOutcome,
  GrpcMcpCallToolRequestSchema,
  GrpcMcpListToolsRequestSchema,
  type GrpcMcpAuditCommand,
  type GrpcMcpCallToolRequest,
  type GrpcMcpListToolsRequest,
} from './gen/mcp_runtime_pb.ts';
import type { CallOutcome, CallToolRequest, ListToolsRequest, OutcomeReport } from './authority.ts';

export const callOutcomeNumbers = {
  succeeded: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_SUCCEEDED,
  tool_error: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_TOOL_ERROR,
  rpc_error: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_RPC_ERROR,
  upstream_refused: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_UPSTREAM_REFUSED,
  upstream_unavailable: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_UPSTREAM_UNAVAILABLE,
  upstream_timeout: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_UPSTREAM_TIMEOUT,
  upstream_limited: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_UPSTREAM_LIMITED,
  upstream_protocol: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_UPSTREAM_PROTOCOL,
  canceled: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_CANCELED,
  not_sent: GrpcMcpCallOutcome.MCP_CALL_OUTCOME_NOT_SENT,
} as const satisfies Readonly<Record<CallOutcome, GrpcMcpCallOutcome>>;

export const callOutcomeWords = new Map<GrpcMcpCallOutcome, CallOutcome>(
  (Object.keys(callOutcomeNumbers) as CallOutcome[]).map((word) => [callOutcomeNumbers[word], word]),
);

// The published status column folds our outcomes; both travel, so that neither reader has to guess.
const statuses: Record<CallOutcome, GrpcMcpAuditStatus> = {
  succeeded: GrpcMcpAuditStatus.SUCCESS,
  tool_error: GrpcMcpAuditStatus.ERROR,
  rpc_error: GrpcMcpAuditStatus.ERROR,
  upstream_refused: GrpcMcpAuditStatus.ERROR,
  upstream_unavailable: GrpcMcpAuditStatus.ERROR,
  upstream_timeout: GrpcMcpAuditStatus.UNKNOWN,
  upstream_limited: GrpcMcpAuditStatus.ERROR,
  upstream_protocol: GrpcMcpAuditStatus.ERROR,
  canceled: GrpcMcpAuditStatus.UNKNOWN,
  not_sent: GrpcMcpAuditStatus.POLICY_DENIED,
};

export const listRequestToWire = (request: ListToolsRequest): GrpcMcpListToolsRequest =>
  create(GrpcMcpListToolsRequestSchema, request);

export const listRequestFromWire = (request: GrpcMcpListToolsRequest): ListToolsRequest => ({
  token: request.token,
  connectorId: request.connectorId,
  connectorVersion: request.connectorVersion,
  probe: request.probe,
  traceId: request.traceId,
});

export const callRequestToWire = (request: CallToolRequest): GrpcMcpCallToolRequest =>
  create(GrpcMcpCallToolRequestSchema, request);

export const callRequestFromWire = (request: GrpcMcpCallToolRequest): CallToolRequest => ({
  token: request.token,
  connectorId: request.connectorId,
  connectorVersion: request.connectorVersion,
  toolName: request.toolName,
  argumentDigest: request.argumentDigest,
  definitionHash: request.definitionHash,
  confirmId: request.confirmId,
  idempotencyKey: request.idempotencyKey,
  clientName: request.clientName,
  clientVersion: request.clientVersion,
  remoteIp: request.remoteIp,
  traceId: request.traceId,
});

export const reportToWire = (report: OutcomeReport): GrpcMcpAuditCommand =>
  create(GrpcMcpAuditCommandSchema, {
    callId: report.callId,
    outcome: callOutcomeNumbers[report.outcome],
    status: statuses[report.outcome],
    durationMs: BigInt(Math.max(0, Math.round(report.durationMs))),
    outcomeDetail: report.detail ?? '',
    result: report.result ?? '',
    traceId: report.traceId ?? '',
  });

/** `undefined` where the outcome is a number we do not know: nothing is recorded rather than something made up. */
export const reportFromWire = (command: GrpcMcpAuditCommand): OutcomeReport | undefined => {
  const outcome = callOutcomeWords.get(command.outcome);
  if (outcome === undefined || command.callId === '') return undefined;
  return {
    callId: command.callId,
    outcome,
    durationMs: Number(command.durationMs),
    detail: command.outcomeDetail,
    result: command.result,
    traceId: command.traceId,
  };
};
