/** Empties the outbox into a sink: in order, in batches, again after a failure, and never in anybody's way. */
import type { Delivery, Sink } from './audit.ts';
import type { Log } from './log.ts';
import type { Store } from './store.ts';

export interface Drain {
  /** There may be something to deliver. */
  readonly wake: () => void;
  /** Resolves when the outbox is empty, or rejects with the sink's error. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const batchSize = 200;
const gatherMs = 50;
const firstRetryMs = 100;
const lastRetryMs = 30_000;

/** Starts with what an earlier process left behind. */
export const openDrain = (store: Store, sink: Sink, log: Log): Drain => {
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let failures = 0;
  let soon: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    do {
      again = false;
      while (!closed && (await deliverBatch(store, sink))) failures = 0;
    } while (again && !closed);
  };
  const failed = (error: unknown): void => {
    failures++;
    const delayMs = Math.min(firstRetryMs * 2 ** Math.min(failures, 16), lastRetryMs);
    log('warn', 'audit entries could not be delivered and wait', { failures, delayMs, error: errorName(error) });
    retry = closed ? undefined : setTimeout(begin, delayMs).unref();
  };
  const start = (): Promise<void> => {
    clearTimeout(retry);
    retry = undefined;
    running ??= run()
      .catch((error: unknown) => {
        // Whoever began it: somebody who only looks must not end the trying.
        failed(error);
        throw error;
      })
      .finally(() => (running = undefined));
    return running;
  };
  function wake(): void {
    again = true;
    // A moment later: whoever woke is answered first, and what comes in together is one write to the disk.
    if (running === undefined && retry === undefined && !closed) soon ??= setTimeout(begin, gatherMs).unref();
  }
  function begin(): void {
    soon = undefined;
    if (!closed) start().catch(() => undefined);
  }
  wake();
  return {
    wake,
    settled: async () => {
      again = true;
      await start();
    },
    close: async () => {
      closed = true;
      clearTimeout(soon);
      clearTimeout(retry);
      await running?.catch(() => undefined);
    },
  };
};

const deliverBatch = async (store: Store, sink: Sink): Promise<boolean> => {
  const rows = await store.inTransaction((tx) =>
    tx.selectFrom('outbox').selectAll().orderBy('sequence').limit(batchSize).execute(),
  );
  const last = rows.at(-1);
  if (last === undefined) return false;
  await sink(
    rows.map((row): Delivery => ({
      dedupeId: row.dedupe_id,
      account: accountOf(row.payload),
      payload: row.payload,
      atMs: row.created_at,
    })),
  );
  await store.inTransaction((tx) => tx.deleteFrom('outbox').where('sequence', '<=', last.sequence).execute());
  return true;
};

const accountOf = (payload: string): string => String((JSON.parse(payload) as { account?: unknown }).account ?? '');

const errorName = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');
