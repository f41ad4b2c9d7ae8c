/**
 * What was authorized, and how it ended. An outcome is recorded once, for a call that was given out here; its result, where a
 * repeated call may need it, is sealed like a secret: it is the account's data.
 */
import type { CallOutcome, OutcomeReport, StoredOutcome } from '../protocol/authority.ts';
import type { Scope } from './changes.ts';
import type { Ground } from './connections.ts';
import type { Tx } from './store.ts';
import type { SecretPlace, Vault } from './vault.ts';

export interface KeptCall {
  readonly id: string;
  readonly kind: 'list' | 'call';
  readonly account_id: string;
  readonly connector_id: string;
  readonly connection_id: string;
  readonly connection_version: number;
  readonly decided_at: number;
  readonly tool_name?: string;
  readonly argument_digest?: string;
  readonly idempotency_key?: string | null;
  /** An earlier call under the same key that ran nothing: it gives its key up. */
  readonly replaces?: string | null;
}

export const keepCall = async (tx: Tx, { replaces = null, ...call }: KeptCall): Promise<void> => {
  if (replaces !== null) {
    await tx.updateTable('calls').set({ idempotency_key: null }).where('id', '=', replaces).execute();
  }
  const empty = { tool_name: '', argument_digest: '', idempotency_key: null };
  const open = {
    ended_at: null,
    outcome: null,
    outcome_detail: '',
    result_key_id: null,
    result_nonce: null,
    result: null,
  };
  await tx
    .insertInto('calls')
    .values({ ...empty, ...call, ...open })
    .execute();
};

/** The call an outcome was recorded for, as it was given out. */
export interface EndedCall {
  readonly account_id: string;
  readonly connector_id: string;
  readonly connection_id: string;
  readonly connection_version: number;
  readonly tool_name: string;
  readonly idempotency_key: string | null;
}

/** Larger results are not kept; a repeated call then learns how it ended, without the result. */
export const maxStoredResultBytes: number = 256 * 1024;
const maxDetail = 256;

/** Records how a call ended. The first report counts; a later one changes nothing. */
export const endCall = async (
  tx: Tx,
  { edge, vault }: Ground,
  report: OutcomeReport,
): Promise<{ readonly state: 'ended' | 'ended before' | 'unknown'; readonly call?: EndedCall }> => {
  const detail = (report.detail ?? '').slice(0, maxDetail);
  const call = await tx
    .updateTable('calls')
    .set({ outcome: report.outcome, outcome_detail: detail, ended_at: edge.now() })
    .where('id', '=', report.callId)
    .where('outcome', 'is', null)
    .returning(['account_id', 'connector_id', 'connection_id', 'connection_version', 'tool_name', 'idempotency_key'])
    .executeTakeFirst();
  if (call === undefined) return { state: (await isKnown(tx, report.callId)) ? 'ended before' : 'unknown' };
  const result = report.result ?? '';
  const wanted = call.idempotency_key !== null && result !== '' && Buffer.byteLength(result) <= maxStoredResultBytes;
  if (wanted) await storeResult(tx, vault, call, report.callId, result);
  return { state: 'ended', call };
};

const isKnown = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.selectFrom('calls').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

const placeOf = (scope: Scope, callId: string): SecretPlace => ({ ...scope, connection: callId, field: 'result' });

const storeResult = async (tx: Tx, vault: Vault, call: EndedCall, callId: string, result: string): Promise<void> => {
  const place = placeOf({ account: call.account_id, connector: call.connector_id }, callId);
  const sealed = await vault.seal(tx, place, result);
  const kept = { result_key_id: sealed.keyId, result_nonce: sealed.nonce, result: sealed.ciphertext };
  await tx.updateTable('calls').set(kept).where('id', '=', callId).execute();
};

/** How an earlier call of this scope ended, with its result where one was kept. */
export const readStored = async (
  tx: Tx,
  vault: Vault,
  scope: Scope,
  callId: string,
  outcome: CallOutcome,
): Promise<StoredOutcome> => {
  const row = await tx
    .selectFrom('calls')
    .select(['outcome_detail', 'result_key_id', 'result_nonce', 'result'])
    .where('id', '=', callId)
    .where('account_id', '=', scope.account)
    .executeTakeFirstOrThrow();
  const { result_key_id: keyId, result_nonce: nonce, result: ciphertext } = row;
  if (keyId === null || nonce === null || ciphertext === null)
    return { outcome, detail: row.outcome_detail, result: '' };
  const result = await vault.open(tx, placeOf(scope, callId), { keyId, nonce, ciphertext, schema: 1 });
  return { outcome, detail: row.outcome_detail, result };
};
