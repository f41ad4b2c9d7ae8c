/** What the audit trail says about a decision. */
import type { CallToolAnswer, CallToolRequest, ListToolsRequest } from '../protocol/authority.ts';
import { recordAudit, type AuditEntry } from './audit.ts';
import type { Access, GatheredAccount } from './decide.ts';
import type { Edge } from './log.ts';
import type { Tx } from './store.ts';

/** A decision as it was made, in the transaction that made it. */
export interface Decision {
  readonly account: GatheredAccount | null;
  readonly callId: string;
  readonly request: ListToolsRequest | CallToolRequest;
  readonly access: Access;
  readonly answer: Access | CallToolAnswer;
}

// Who could not be recognized has no account to be written under; a flood of such questions must not fill the disk.
export const recordDecision = async (tx: Tx, edge: Edge, decision: Decision): Promise<void> => {
  const { account, callId, request, access, answer } = decision;
  if (account === null) return;
  await recordAudit(tx, edge, `${callId}:decision`, {
    event: 'decision',
    account: account.id,
    callId,
    ...askedFor(request),
    ...grantedBy(access),
    decision: answer.outcome,
    ...('reason' in answer && { reason: answer.reason }),
    ...('risk' in answer && { risk: answer.risk }),
  });
};

const askedFor = (
  request: ListToolsRequest | CallToolRequest,
): Pick<AuditEntry, 'connector'> & Partial<AuditEntry> => ({
  connector: request.connectorId,
  connectorVersion: request.connectorVersion,
  traceId: request.traceId ?? '',
  method: 'toolName' in request ? 'tools/call' : 'tools/list',
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
