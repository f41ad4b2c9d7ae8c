/** How a call ended, recorded for the call that was given out: the first report counts, and a refused credential is marked. */
import type { OutcomeReport } from '../protocol/authority.ts';
import { recordAudit } from './audit.ts';
import { endCall } from './calls.ts';
import type { Change } from './changes.ts';
import { refuseUpstream, type Ground } from './connections.ts';
import type { Tx } from './store.ts';

/** Records an outcome in the caller's transaction. `change` is the mark it left on the connection, when it left one. */
export const recordOutcome = async (
  tx: Tx,
  parts: Ground,
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
