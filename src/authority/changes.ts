/**
 * The one place where an authorization changes. Account revision and connection version rise in the transaction of the change
 * itself, so no reader ever sees one without the other; the hint goes out after the commit, or not at all. DESIGN 8.
 */
import type { Store, Tx } from './store.ts';

/** A change that was committed: what a hint may say. */
export interface Change {
  readonly account: string;
  readonly connector: string;
  readonly revision: number;
  readonly connectionVersion: number;
  readonly what: 'connected' | 'rotated' | 'disconnected' | 'reauth_required' | 'default_switched';
}

/** A connector of an account: every statement about connections is made within one. */
export interface Scope {
  readonly account: string;
  readonly connector: string;
}

/** Hands committed changes to whoever listens. A listener that throws is reported and hurts no other. */
export interface Announcements {
  readonly announce: (change: Change) => void;
  /** Answers how to stop. */
  readonly listen: (listener: (change: Change) => void) => () => void;
}

export const openAnnouncements = (failed: (error: unknown) => void): Announcements => {
  const listeners = new Set<(change: Change) => void>();
  const tell = (listener: (change: Change) => void, change: Change): void => {
    try {
      listener(change);
    } catch (error) {
      failed(error);
    }
  };
  return {
    announce: (change) => listeners.forEach((listener) => tell(listener, change)),
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

/** Runs a change in one transaction and announces it once it is on the disk; `null` from `work` means that nothing changed. */
export const commitChange = async <T>(
  store: Store,
  announcements: Announcements,
  work: (tx: Tx) => Promise<{ readonly answer: T; readonly change: Change | null }>,
): Promise<T> => {
  const { answer, change } = await store.inTransaction(work);
  if (change !== null) announcements.announce(change);
  return answer;
};

/** Raises both counters of a scope and points it at its default connection. */
export const recordChange = async (
  tx: Tx,
  { account, connector }: Scope,
  defaultConnection: string | null,
  what: Change['what'],
): Promise<Change> => {
  const { version } = await tx
    .insertInto('authorizations')
    .values({ account_id: account, connector_id: connector, version: 1, default_connection_id: defaultConnection })
    .onConflict((on) =>
      on.columns(['account_id', 'connector_id']).doUpdateSet((eb) => ({
        version: eb('authorizations.version', '+', 1),
        default_connection_id: defaultConnection,
      })),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  const { revision } = await tx
    .updateTable('accounts')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', account)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return { account, connector, revision, connectionVersion: version, what };
};

/** The account's revision as it stands. */
export const revisionOf = async (tx: Tx, account: string): Promise<number> => {
  const found = tx.selectFrom('accounts').select('revision').where('id', '=', account);
  return (await found.executeTakeFirstOrThrow()).revision;
};
