/**
 * The runtime contract: gather, decide, record, in one transaction for each question. Everything that decides is in decide.ts;
 * this file reads, writes and answers. DESIGN 8.
 */
import type {
  AuthorityPort,
  CallToolAnswer,
  CallToolRequest,
  ListToolsAnswer,
  ListToolsRequest,
  OutcomeReport,
  Refusal,
} from '../protocol/authority.ts';
import { callRow, principalOf, scopeOf, upstreamOf, type Granted } from './answers.ts';
import { keepCall, readStored } from './calls.ts';
import type { Announcements } from './changes.ts';
import { askConfirmation, consumeConfirmation } from './confirmations.ts';
import type { Ground } from './connections.ts';
import { decideAccess, decideCall, riskOf, type CallAsked, type CallVerdict } from './decide.ts';
import { recordDecision } from './decisionAudit.ts';
import type { Drain } from './drain.ts';
import { gather, gatherBefore, type Before } from './gather.ts';
import { recordOutcome } from './outcomes.ts';
import type { Store, Tx } from './store.ts';
import { VaultRefused } from './vault.ts';

export interface RuntimeParts extends Ground {
  readonly store: Store;
  readonly announcements: Announcements;
  readonly drain: Drain;
}

/** The authority's own port. A failure of the store answers `unavailable`: nobody is let through on doubt. */
export const openRuntime = (parts: RuntimeParts): AuthorityPort => ({
  listTools: (request) => answered(parts, () => listTools(parts, request)),
  callTool: (request) => answered(parts, () => callTool(parts, request)),
  audit: (report) => audit(parts, report),
});

const answered = async <T>({ edge, drain }: RuntimeParts, work: () => Promise<T>): Promise<T | Refusal> => {
  try {
    return await work();
  } catch (error) {
    edge.log('error', 'a decision could not be made', { error: error instanceof Error ? error.name : 'unknown' });
    const message =
      error instanceof VaultRefused
        ? 'The stored credential could not be opened; the operator must look at the key file.'
        : 'The authority could not decide; try again shortly.';
    return { outcome: 'unavailable', message };
  } finally {
    drain.wake();
  }
};

// ---- tools/list and server/discover

const listTools = (parts: RuntimeParts, request: ListToolsRequest): Promise<ListToolsAnswer> =>
  parts.store.inTransaction(async (tx) => {
    const now = parts.edge.now();
    const gathered = await gather(tx, request.token, request.connectorId, now);
    const access = decideAccess(gathered, request.connectorVersion);
    if (request.probe) return access.outcome === 'authorized' ? probed(access) : access;
    const callId = parts.edge.newId();
    await recordDecision(tx, parts.edge, { account: gathered.account, callId, request, access, answer: access });
    if (access.outcome !== 'authorized') return access;
    await keepCall(tx, { ...callRow(access, callId, now), kind: 'list' });
    const upstream = await upstreamOf(tx, parts.vault, access);
    return { outcome: 'authorized', principal: principalOf(access.account), callId, upstream, tools: [] };
  });

const probed = (access: Granted): ListToolsAnswer => ({
  outcome: 'authorized',
  principal: principalOf(access.account),
  callId: null,
  upstream: null,
  tools: [],
});

// ---- tools/call

const callTool = (parts: RuntimeParts, request: CallToolRequest): Promise<CallToolAnswer> =>
  parts.store.inTransaction(async (tx) => {
    const now = parts.edge.now();
    const gathered = await gather(tx, request.token, request.connectorId, now);
    const access = decideAccess(gathered, request.connectorVersion);
    const callId = parts.edge.newId();
    const answer = access.outcome === 'authorized' ? await decided(tx, parts, access, request, callId, now) : access;
    await recordDecision(tx, parts.edge, { account: gathered.account, callId, request, access, answer });
    return answer;
  });

const decided = async (
  tx: Tx,
  parts: RuntimeParts,
  access: Granted,
  request: CallToolRequest,
  callId: string,
  now: number,
): Promise<CallToolAnswer> => {
  const asked = {
    toolName: request.toolName,
    argumentDigest: request.argumentDigest,
    definitionHash: request.definitionHash ?? '',
    idempotencyKey: request.idempotencyKey ?? '',
    confirmId: request.confirmId ?? '',
  };
  const scope = scopeOf(access);
  const before = await gatherBefore(tx, scope.account, scope.connector, asked.idempotencyKey);
  const risk = riskOf(access.binding, asked.toolName);
  const verdict = decideCall(asked, { ...before, risk, connectionId: access.connection.id }, now);
  if (!('verdict' in verdict)) return verdict;
  switch (verdict.verdict) {
    case 'in_flight':
      return {
        outcome: 'in_flight',
        message: 'The same call is being made right now; ask again for its outcome.',
        retryAfterMs: 1000,
      };
    case 'replay':
      return { outcome: 'replay', stored: await replayed(tx, parts, access, before, verdict.outcome) };
    case 'confirm':
      return askConfirmation(tx, parts.edge, scope, {
        ...asked,
        risk,
        connectionId: access.connection.id,
        existing: verdict.existing,
      });
    default:
      return proceed(tx, parts, access, { ...asked, callId, now, verdict, before });
  }
};

interface Proceeding extends CallAsked {
  readonly callId: string;
  readonly now: number;
  readonly verdict: Extract<CallVerdict, { verdict: 'call' }>;
  readonly before: Before;
}

const proceed = async (tx: Tx, parts: RuntimeParts, access: Granted, call: Proceeding): Promise<CallToolAnswer> => {
  const { verdict, before } = call;
  if (verdict.confirmation !== null) await consumeConfirmation(tx, verdict.confirmation, call.now);
  await keepCall(tx, {
    ...callRow(access, call.callId, call.now),
    kind: 'call',
    tool_name: call.toolName,
    argument_digest: call.argumentDigest,
    idempotency_key: call.idempotencyKey === '' ? null : call.idempotencyKey,
    replaces: before.earlier?.id ?? null,
  });
  const upstream = await upstreamOf(tx, parts.vault, access);
  const principal = principalOf(access.account);
  return { outcome: 'authorized', callId: call.callId, principal, risk: verdict.risk, tool: null, upstream };
};

const replayed = async (
  tx: Tx,
  parts: RuntimeParts,
  access: Granted,
  { earlier }: Before,
  outcome: Extract<CallVerdict, { verdict: 'replay' }>['outcome'],
): Promise<Extract<CallToolAnswer, { outcome: 'replay' }>['stored']> =>
  earlier === null || earlier.outcome === null
    ? { outcome, detail: 'how the earlier call ended is unknown', result: '' }
    : readStored(tx, parts.vault, scopeOf(access), earlier.id, outcome);

// ---- outcome

const audit = async (parts: RuntimeParts, report: OutcomeReport): Promise<boolean> => {
  try {
    const { recorded, change } = await parts.store.inTransaction((tx) => recordOutcome(tx, parts, report));
    if (change !== null) parts.announcements.announce(change);
    return recorded;
  } catch (error) {
    parts.edge.log('error', 'an outcome could not be recorded', {
      error: error instanceof Error ? error.name : 'unknown',
    });
    return false;
  } finally {
    parts.drain.wake();
  }
};
