/**
 * The runtime contract: gather, decide, record, in one transaction for each question. Everything that decides is in decide.ts;
 * this file reads, writes and answers. DESIGN 8.
 */
import { createHash } from 'node:crypto';
import type {
  AuthorityPort,
  CallToolAnswer,
  CallToolRequest,
  ListToolsAnswer,
  ListToolsRequest,
  OutcomeReport,
  Principal,
  Refusal,
  Upstream,
} from '../protocol/authority.ts';
import { recordAudit, type AuditEntry } from './audit.ts';
import { endCall, keepCall, readStored } from './calls.ts';
import type { Announcements, Change } from './changes.ts';
import { askConfirmation, consumeConfirmation } from './confirmations.ts';
import { readSecret, refuseUpstream, type Ground } from './connections.ts';
import { decideAccess, decideCall, riskOf, type Access, type CallVerdict, type GatheredAccount } from './decide.ts';
import type { Drain } from './drain.ts';
import { gather, gatherBefore, type Before } from './gather.ts';
import type { Store, Tx } from './store.ts';
import { VaultRefused } from './vault.ts';

export interface RuntimeParts extends Ground {
  readonly store: Store;
  readonly announcements: Announcements;
  readonly drain: Drain;
}

type Granted = Extract<Access, { outcome: 'authorized' }>;

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
    await recordDecision(tx, parts, gathered.account, callId, {
      ...askedFor(request),
      ...grantedBy(access),
      method: 'tools/list',
      decision: access.outcome,
      ...reasonOf(access),
    });
    if (access.outcome !== 'authorized') return access;
    await keepCall(tx, { ...callRow(access, callId, now), kind: 'list' });
    const upstream = await upstreamOf(tx, parts, access);
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
    await recordDecision(tx, parts, gathered.account, callId, {
      ...askedFor(request),
      ...grantedBy(access),
      method: 'tools/call',
      decision: answer.outcome,
      ...reasonOf(answer),
      ...('risk' in answer && { risk: answer.risk }),
    });
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

interface Proceeding {
  readonly toolName: string;
  readonly argumentDigest: string;
  readonly idempotencyKey: string;
  readonly callId: string;
  readonly now: number;
  readonly verdict: Extract<CallVerdict, { verdict: 'call' | 'again' }>;
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
  const upstream = await upstreamOf(tx, parts, access);
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

const recordOutcome = async (
  tx: Tx,
  parts: RuntimeParts,
  report: OutcomeReport,
): Promise<{ readonly recorded: boolean; readonly change: Change | null }> => {
  const { state, call } = await endCall(tx, parts, report);
  if (call === undefined) return { recorded: state === 'ended before', change: null };
  const scope = { account: call.account_id, connector: call.connector_id };
  const used = { connection: call.connection_id, version: call.connection_version };
  const change = report.outcome === 'upstream_refused' ? await refuseUpstream(tx, parts, scope, used) : null;
  await recordAudit(tx, parts.edge, `${report.callId}:outcome`, {
    event: 'outcome',
    ...scope,
    callId: report.callId,
    tool: call.tool_name,
    connectionId: used.connection,
    connectionVersion: String(used.version),
    outcome: report.outcome,
    detail: report.detail ?? '',
    durationMs: report.durationMs,
    traceId: report.traceId ?? '',
  });
  return { recorded: true, change };
};

// ---- parts of an answer

const scopeOf = ({ account, binding }: Granted): { account: string; connector: string } => ({
  account: account.id,
  connector: binding.binding.connectorId,
});

const principalOf = (account: GatheredAccount): Principal => ({
  tenantId: 1n,
  principalId: BigInt(account.number),
  principalType: 'USER',
  principalName: account.id,
  displayName: account.displayName,
  clientId: '',
});

const callRow = (
  access: Granted,
  id: string,
  now: number,
): {
  id: string;
  account_id: string;
  connector_id: string;
  connection_id: string;
  connection_version: number;
  decided_at: number;
} => ({
  id,
  account_id: access.account.id,
  connector_id: access.binding.binding.connectorId,
  connection_id: access.connection.id,
  connection_version: access.connection.version,
  decided_at: now,
});

const upstreamOf = async (tx: Tx, parts: RuntimeParts, access: Granted): Promise<Upstream> => {
  const { endpoint, mode, allowedHosts, privateNetwork, injection, limits, ref } = access.binding.binding;
  const { id, version } = access.connection;
  const credential = injection.kind === 'none' ? '' : await readSecret(tx, parts.vault, scopeOf(access), id);
  const scope = JSON.stringify([access.account.id, id, version, ref, access.binding.revision]);
  const contractScope = createHash('sha256').update(scope).digest('base64url');
  return { endpoint, mode, allowedHosts, privateNetwork, injection, limits: said(limits), credential, contractScope };
};

// A limit that is not set is left out, not handed on as undefined.
const said = (limits: Readonly<Record<string, number | undefined>>): Upstream['limits'] =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));

// ---- audit of a decision

// Who could not be recognized has no account to be written under; a flood of such questions must not fill the disk.
const recordDecision = async (
  tx: Tx,
  { edge }: RuntimeParts,
  account: GatheredAccount | null,
  callId: string,
  entry: Omit<AuditEntry, 'event' | 'account' | 'callId'>,
): Promise<void> => {
  if (account === null) return;
  await recordAudit(tx, edge, `${callId}:decision`, { event: 'decision', account: account.id, callId, ...entry });
};

const askedFor = (
  request: ListToolsRequest | CallToolRequest,
): Pick<AuditEntry, 'connector'> & Partial<AuditEntry> => ({
  connector: request.connectorId,
  connectorVersion: request.connectorVersion,
  traceId: request.traceId ?? '',
  ...('toolName' in request && {
    tool: request.toolName,
    argumentDigest: request.argumentDigest,
    clientName: request.clientName ?? '',
    clientVersion: request.clientVersion ?? '',
    remoteIp: request.remoteIp ?? '',
  }),
});

const grantedBy = (access: Access): Partial<AuditEntry> =>
  access.outcome !== 'authorized'
    ? {}
    : {
        connectionId: access.connection.id,
        connectionVersion: String(access.connection.version),
        bindingRevision: `${access.binding.binding.ref}#${access.binding.revision}`,
      };

const reasonOf = (answer: Access | CallToolAnswer): Partial<AuditEntry> =>
  answer.outcome === 'rejected' ? { reason: answer.reason } : {};
