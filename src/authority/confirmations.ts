/**
 * Confirmations of calls with HIGH risk: asked for once under an idempotency key, answered by a person through another door than
 * the agent's, used up by exactly one call. DESIGN 8.
 */
import type { CallToolAnswer, Risk } from '../protocol/authority.ts';
import { recordAudit } from './audit.ts';
import type { Scope } from './changes.ts';
import type { Confirmation } from './decide.ts';
import type { Edge } from './log.ts';
import { Problem } from './problems.ts';
import type { Tx } from './store.ts';

/** Time for a person to answer. */
export const confirmationTtlMs: number = 5 * 60_000;

interface Wanted {
  readonly toolName: string;
  readonly argumentDigest: string;
  readonly definitionHash: string;
  readonly idempotencyKey: string;
  readonly connectionId: string;
  readonly risk: Risk;
  readonly existing: Confirmation | null;
}

/** The confirmation this call waits for: the one that is open under its key, else a new one. */
export const askConfirmation = async (tx: Tx, edge: Edge, scope: Scope, wanted: Wanted): Promise<CallToolAnswer> => {
  const { id, expiresAtMs } = wanted.existing ?? (await newConfirmation(tx, edge, scope, wanted));
  return {
    outcome: 'confirm_required',
    confirmId: id,
    expiresAtMs,
    risk: wanted.risk,
    summary: `${scope.account} calls ${wanted.toolName} of ${scope.connector} (arguments ${wanted.argumentDigest})`,
    message: 'A person must approve this call; then make it again with the same idempotency key.',
  };
};

const newConfirmation = async (
  tx: Tx,
  edge: Edge,
  { account, connector }: Scope,
  wanted: Wanted,
): Promise<{ readonly id: string; readonly expiresAtMs: number }> => {
  const now = edge.now();
  const fresh = { id: edge.newId(), expiresAtMs: now + confirmationTtlMs };
  // One that is over under the same key makes room: the key is not lost with it.
  await tx
    .deleteFrom('confirmations')
    .where('account_id', '=', account)
    .where('connector_id', '=', connector)
    .where('idempotency_key', '=', wanted.idempotencyKey)
    .execute();
  await tx
    .insertInto('confirmations')
    .values({
      id: fresh.id,
      account_id: account,
      connector_id: connector,
      connection_id: wanted.connectionId,
      tool_name: wanted.toolName,
      argument_digest: wanted.argumentDigest,
      definition_hash: wanted.definitionHash,
      idempotency_key: wanted.idempotencyKey,
      state: 'pending',
      decided_by: '',
      created_at: now,
      expires_at: fresh.expiresAtMs,
    })
    .execute();
  return fresh;
};

/** Uses an approved confirmation up. Throws when it is not there to be used: then the call's transaction is undone with it. */
export const consumeConfirmation = async (tx: Tx, id: string, now: number): Promise<void> => {
  const used = await tx
    .updateTable('confirmations')
    .set({ state: 'consumed' })
    .where('id', '=', id)
    .where('state', '=', 'approved')
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (used.numUpdatedRows !== 1n) throw new Error('a confirmation was used twice');
};

/** A person's answer. Throws a {@link Problem} when there is nothing open to answer. */
export const answerConfirmation = async (
  tx: Tx,
  edge: Edge,
  account: string,
  id: string,
  answer: { readonly approved: boolean; readonly by: string },
): Promise<void> => {
  const state = answer.approved ? ('approved' as const) : ('denied' as const);
  const row = await tx
    .updateTable('confirmations')
    .set({ state, decided_by: answer.by })
    .where('id', '=', id)
    .where('account_id', '=', account)
    .where('state', '=', 'pending')
    .where('expires_at', '>', edge.now())
    .returning(['connector_id', 'tool_name'])
    .executeTakeFirst();
  if (row === undefined) throw await notOpen(tx, account, id);
  const entry = { event: 'confirmation', account, connector: row.connector_id, tool: row.tool_name } as const;
  await recordAudit(tx, edge, `${id}:${state}`, { ...entry, decision: state, by: answer.by });
};

const notOpen = async (tx: Tx, account: string, id: string): Promise<Problem> => {
  const found = tx.selectFrom('confirmations').select('id').where('id', '=', id).where('account_id', '=', account);
  return (await found.executeTakeFirst()) === undefined
    ? new Problem('confirmation_not_found', 'This account has no such confirmation.')
    : new Problem('confirmation_finished', 'That confirmation was answered, used or is over; make the call again.');
};

/** What waits for a person, oldest first. */
export const openConfirmations = async (
  tx: Tx,
  edge: Edge,
  account: string,
): Promise<
  readonly {
    readonly id: string;
    readonly connector: string;
    readonly tool: string;
    readonly argumentDigest: string;
    readonly expiresAtMs: number;
  }[]
> => {
  const rows = await tx
    .selectFrom('confirmations')
    .selectAll()
    .where('account_id', '=', account)
    .where('state', '=', 'pending')
    .where('expires_at', '>', edge.now())
    .orderBy('created_at')
    .limit(200)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    connector: row.connector_id,
    tool: row.tool_name,
    argumentDigest: row.argument_digest,
    expiresAtMs: row.expires_at,
  }));
};
