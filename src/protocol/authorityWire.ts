/**
 * Translates the answers of authority.ts to the generated messages and back; the questions are in authorityRequestWire.ts. An enum value this side does
 * not know comes back as the closed answer (`unavailable`, `other`, HIGH), never as permission.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  GrpcMcpDecision,
  GrpcMcpOutcome,
  GrpcMcpPrincipalType,
  GrpcRMcpBooleanSchema,
  GrpcRMcpCallToolDTOSchema,
  GrpcRMcpToolListDTOSchema,
  type GrpcMcpOutcomeDTO,
  type GrpcMcpOutcomeDTOSchema,
  type GrpcMcpPrincipalContext,
  type GrpcMcpPrincipalContextSchema,
  type GrpcRMcpBoolean,
  type GrpcRMcpCallToolDTO,
  type GrpcRMcpToolListDTO,
} from './gen/mcp_runtime_pb.ts';
import {
  rejectReasons,
  type CallToolAnswer,
  type ListToolsAnswer,
  type Principal,
  type Refusal,
  type RejectReason,
} from './authority.ts';
import {
  definitionFromWire,
  definitionToWire,
  riskFromWire,
  riskToWire,
  toolFromWire,
  toolToWire,
} from './authorityToolWire.ts';
import { callOutcomeNumbers, callOutcomeWords } from './authorityRequestWire.ts';
import { upstreamFromWire, upstreamToWire } from './authorityUpstreamWire.ts';

const outcomeNumbers = {
  authorized: GrpcMcpOutcome.MCP_OUTCOME_AUTHORIZED,
  unauthenticated: GrpcMcpOutcome.MCP_OUTCOME_UNAUTHENTICATED,
  insufficient_scope: GrpcMcpOutcome.MCP_OUTCOME_INSUFFICIENT_SCOPE,
  rejected: GrpcMcpOutcome.MCP_OUTCOME_REJECTED,
  confirm_required: GrpcMcpOutcome.MCP_OUTCOME_CONFIRM_REQUIRED,
  in_flight: GrpcMcpOutcome.MCP_OUTCOME_IN_FLIGHT,
  replay: GrpcMcpOutcome.MCP_OUTCOME_REPLAY,
  authorization_required: GrpcMcpOutcome.MCP_OUTCOME_AUTHORIZATION_REQUIRED,
  reauth_required: GrpcMcpOutcome.MCP_OUTCOME_REAUTH_REQUIRED,
  unavailable: GrpcMcpOutcome.MCP_OUTCOME_UNAVAILABLE,
} as const satisfies Record<CallToolAnswer['outcome'], GrpcMcpOutcome>;

const decisions = (answer: CallToolAnswer): GrpcMcpDecision => {
  if (answer.outcome === 'authorized') return GrpcMcpDecision.AUTHORIZED;
  return answer.outcome === 'confirm_required' ? GrpcMcpDecision.CONFIRM_REQUIRED : GrpcMcpDecision.REJECTED;
};

const reasonFromWire = (reason: string): RejectReason => rejectReasons.find((known) => known === reason) ?? 'other';

// ---- principal

const principalToWire = (principal: Principal): MessageInitShape<typeof GrpcMcpPrincipalContextSchema> => ({
  ...principal,
  principalType: GrpcMcpPrincipalType[principal.principalType],
});

const principalFromWire = (principal: GrpcMcpPrincipalContext | undefined): Principal | undefined =>
  principal && {
    tenantId: principal.tenantId,
    principalId: principal.principalId,
    principalType:
      principal.principalType === GrpcMcpPrincipalType.SERVICE_ACCOUNT
        ? 'SERVICE_ACCOUNT'
        : principal.principalType === GrpcMcpPrincipalType.SYSTEM
          ? 'SYSTEM'
          : 'USER',
    principalName: principal.principalName,
    displayName: principal.displayName,
    clientId: principal.clientId,
  };

// ---- answers

type OutcomeInit = MessageInitShape<typeof GrpcMcpOutcomeDTOSchema>;

const outcomeToWire = (answer: ListToolsAnswer | CallToolAnswer): OutcomeInit => {
  const outcome = outcomeNumbers[answer.outcome];
  switch (answer.outcome) {
    case 'authorized':
      return { outcome };
    case 'replay':
      return { outcome, stored: { ...answer.stored, outcome: callOutcomeNumbers[answer.stored.outcome] } };
    case 'confirm_required':
      return { outcome, message: answer.message, summary: answer.summary, expiresAtMs: BigInt(answer.expiresAtMs) };
    case 'insufficient_scope':
      return { outcome, message: answer.message, requiredScopes: [...answer.requiredScopes] };
    case 'rejected':
      return { outcome, message: answer.message, reason: answer.reason };
    case 'unavailable':
    case 'in_flight':
      return { outcome, message: answer.message, retryAfterMs: answer.retryAfterMs ?? 0 };
    default:
      return { outcome, message: answer.message };
  }
};

const unreadable: Refusal = {
  outcome: 'unavailable',
  message: 'The authority answered in a way this gateway does not understand; run the same release on both sides.',
};

/** Refusals read alike in both answers; `undefined` when the answer is not one. */
const refusalFromWire = (dto: GrpcMcpOutcomeDTO): Refusal | undefined => {
  const message = dto.message;
  switch (dto.outcome) {
    case GrpcMcpOutcome.MCP_OUTCOME_UNAUTHENTICATED:
      return { outcome: 'unauthenticated', message };
    case GrpcMcpOutcome.MCP_OUTCOME_INSUFFICIENT_SCOPE:
      return { outcome: 'insufficient_scope', message, requiredScopes: dto.requiredScopes };
    case GrpcMcpOutcome.MCP_OUTCOME_AUTHORIZATION_REQUIRED:
      return { outcome: 'authorization_required', message };
    case GrpcMcpOutcome.MCP_OUTCOME_REAUTH_REQUIRED:
      return { outcome: 'reauth_required', message };
    case GrpcMcpOutcome.MCP_OUTCOME_REJECTED:
      return { outcome: 'rejected', message, reason: reasonFromWire(dto.reason) };
    case GrpcMcpOutcome.MCP_OUTCOME_UNAVAILABLE:
      return { outcome: 'unavailable', message, ...retryAfter(dto) };
    default:
      return undefined;
  }
};

const retryAfter = (dto: GrpcMcpOutcomeDTO): { retryAfterMs?: number } =>
  dto.retryAfterMs === 0 ? {} : { retryAfterMs: dto.retryAfterMs };

const envelope = (answer: ListToolsAnswer | CallToolAnswer): { ok: boolean; code: string; message: string } => ({
  ok: answer.outcome === 'authorized',
  code: answer.outcome,
  message: 'message' in answer ? answer.message : '',
});

export const listAnswerToWire = (answer: ListToolsAnswer): GrpcRMcpToolListDTO =>
  create(GrpcRMcpToolListDTOSchema, {
    result: envelope(answer),
    outcome: outcomeToWire(answer),
    ...(answer.outcome === 'authorized' && {
      callId: answer.callId ?? '',
      principal: principalToWire(answer.principal),
      tools: answer.tools.map(definitionToWire),
      ...(answer.upstream && { upstream: upstreamToWire(answer.upstream) }),
    }),
  });

export const listAnswerFromWire = (dto: GrpcRMcpToolListDTO): ListToolsAnswer => {
  if (dto.outcome === undefined) return unreadable;
  if (dto.outcome.outcome !== GrpcMcpOutcome.MCP_OUTCOME_AUTHORIZED) return refusalFromWire(dto.outcome) ?? unreadable;
  const principal = principalFromWire(dto.principal);
  const upstream = dto.upstream === undefined ? null : upstreamFromWire(dto.upstream);
  if (principal === undefined || upstream === undefined) return unreadable;
  return {
    outcome: 'authorized',
    principal,
    upstream,
    callId: dto.callId === '' ? null : dto.callId,
    tools: dto.tools.map(definitionFromWire),
  };
};

export const callAnswerToWire = (answer: CallToolAnswer): GrpcRMcpCallToolDTO =>
  create(GrpcRMcpCallToolDTOSchema, {
    result: envelope(answer),
    data: {
      decision: decisions(answer),
      message: 'message' in answer ? answer.message : '',
      outcome: outcomeToWire(answer),
      ...(answer.outcome === 'confirm_required' && {
        confirmId: answer.confirmId,
        riskLevel: riskToWire(answer.risk),
      }),
      ...(answer.outcome === 'authorized' && {
        callId: answer.callId,
        riskLevel: riskToWire(answer.risk),
        principal: principalToWire(answer.principal),
        upstream: upstreamToWire(answer.upstream),
        ...(answer.tool && { tool: toolToWire(answer.tool) }),
      }),
    },
  });

export const callAnswerFromWire = (dto: GrpcRMcpCallToolDTO): CallToolAnswer => {
  const data = dto.data;
  const outcome = data?.outcome;
  if (data === undefined || outcome === undefined) return unreadable;
  switch (outcome.outcome) {
    case GrpcMcpOutcome.MCP_OUTCOME_AUTHORIZED: {
      const principal = principalFromWire(data.principal);
      const upstream = data.upstream && upstreamFromWire(data.upstream);
      if (principal === undefined || upstream === undefined || data.callId === '') return unreadable;
      const tool = data.tool === undefined ? null : toolFromWire(data.tool);
      return {
        outcome: 'authorized',
        callId: data.callId,
        principal,
        upstream,
        tool,
        risk: riskFromWire(data.riskLevel),
      };
    }
    case GrpcMcpOutcome.MCP_OUTCOME_CONFIRM_REQUIRED:
      return {
        outcome: 'confirm_required',
        confirmId: data.confirmId,
        expiresAtMs: Number(outcome.expiresAtMs),
        summary: outcome.summary,
        risk: riskFromWire(data.riskLevel),
        message: outcome.message,
      };
    case GrpcMcpOutcome.MCP_OUTCOME_IN_FLIGHT:
      return { outcome: 'in_flight', message: outcome.message, ...retryAfter(outcome) };
    case GrpcMcpOutcome.MCP_OUTCOME_REPLAY: {
      const word = outcome.stored && callOutcomeWords.get(outcome.stored.outcome);
      if (outcome.stored === undefined || word === undefined) return unreadable;
      return {
        outcome: 'replay',
        stored: { outcome: word, detail: outcome.stored.detail, result: outcome.stored.result },
      };
    }
    default:
      return refusalFromWire(outcome) ?? unreadable;
  }
};

export const recordedToWire = (recorded: boolean): GrpcRMcpBoolean =>
  create(GrpcRMcpBooleanSchema, { result: { ok: true, code: 'ok', message: '' }, data: recorded });

export const recordedFromWire = (dto: GrpcRMcpBoolean): boolean => dto.data;
