/** What is over is forgotten after a while, so that a server which runs for years does not grow for years. */
import type { Tx } from './store.ts';

const day = 24 * 3_600_000;

/** How long things stay, in milliseconds. An idempotency key answers for as long as its call stays. */
export const retention = { callsMs: 7 * day, sessionsMs: 7 * day, auditMs: 180 * day } as const;

/** Deletes what is older than its retention; never anything a counter depends on. */
export const prune = async (tx: Tx, now: number): Promise<void> => {
  await tx
    .deleteFrom('calls')
    .where('decided_at', '<', now - retention.callsMs)
    .execute();
  await tx
    .deleteFrom('confirmations')
    .where('expires_at', '<', now - retention.callsMs)
    .execute();
  await tx
    .deleteFrom('authorization_sessions')
    .where('expires_at', '<', now - retention.sessionsMs)
    .execute();
  await tx
    .deleteFrom('account_sessions')
    .where('expires_at', '<', now - retention.sessionsMs)
    .execute();
  await tx
    .deleteFrom('audit_log')
    .where('recorded_at', '<', now - retention.auditMs)
    .execute();
};
