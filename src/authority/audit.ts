/**
 * The audit trail. An entry enters the outbox in the transaction of what it tells, so neither exists without the other; a drain
 * carries it to its destination afterwards, at least once, under an id by which the destination drops what it has. Nothing here
 * delays or fails a call. DESIGN 8.
 */
import type { Edge } from './log.ts';
import type { Store, Tx } from './store.ts';

/** What happened, without arguments, results or secrets. */
export interface AuditEntry {
  readonly event: 'decision' | 'outcome' | 'confirmation' | 'change';
  readonly account: string;
  readonly connector: string;
  readonly callId?: string;
  readonly method?: 'tools/list' | 'tools/call';
  readonly decision?: string;
  readonly reason?: string;
  readonly tool?: string;
  readonly argumentDigest?: string;
  readonly risk?: string;
  readonly connectionId?: string;
  readonly connectionVersion?: string;
  readonly bindingRevision?: string;
  readonly connectorVersion?: string;
  readonly outcome?: string;
  readonly detail?: string;
  readonly durationMs?: number;
  readonly traceId?: string;
  readonly clientName?: string;
  readonly clientVersion?: string;
  readonly remoteIp?: string;
  readonly by?: string;
}

/** An entry on its way. `dedupeId` is the same however often it is delivered. */
export interface Delivery {
  readonly dedupeId: string;
  readonly account: string;
  readonly atMs: number;
  /** One line of JSON: nothing in it can look like the start of another. */
  readonly payload: string;
}

/** Where entries go. Resolves when they are kept; may be handed the same entry again. */
export type Sink = (deliveries: readonly Delivery[]) => Promise<void>;

const maxText = 512;

const bounded = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > maxText ? `${value.slice(0, maxText)}…` : value;

/** Puts an entry into the outbox, inside the transaction it belongs to. */
export const recordAudit = async (tx: Tx, edge: Edge, dedupeId: string, entry: AuditEntry): Promise<void> => {
  const payload = JSON.stringify({ schemaVersion: 1, ...entry }, bounded);
  await tx.insertInto('outbox').values({ dedupe_id: dedupeId, payload, created_at: edge.now() }).execute();
};

/** The embedded destination: the table `audit_log` of the same store. */
export const tableSink =
  (store: Store): Sink =>
  (deliveries) =>
    store.inTransaction(async (tx) => {
      const rows = deliveries.map(({ dedupeId, account, payload, atMs }) => ({
        dedupe_id: dedupeId,
        account_id: account,
        payload,
        recorded_at: atMs,
      }));
      await tx
        .insertInto('audit_log')
        .values(rows)
        .onConflict((on) => on.column('dedupe_id').doNothing())
        .execute();
    });

/** Entries of the embedded table, newest first; all accounts when none is named. */
export const readAudit = async (
  tx: Tx,
  asked: { readonly account?: string; readonly before?: number; readonly limit: number },
): Promise<readonly { readonly sequence: number; readonly at: number; readonly entry: unknown }[]> => {
  let found = tx.selectFrom('audit_log').selectAll().orderBy('sequence', 'desc').limit(asked.limit);
  if (asked.account !== undefined) found = found.where('account_id', '=', asked.account);
  if (asked.before !== undefined) found = found.where('sequence', '<', asked.before);
  const rows = await found.execute();
  return rows.map((row) => ({
    sequence: row.sequence,
    at: row.recorded_at,
    entry: JSON.parse(row.payload) as unknown,
  }));
};
