/** The full authorization state of an account, read in one transaction: what a daemon adopts as truth. Facts: tutti-client 1.3. */
import { snapshotText } from '../protocol/snapshot.ts';
import { serverEpoch } from './accounts.ts';
import { revisionOf } from './changes.ts';
import type { Tx } from './store.ts';

/** The body of a snapshot. It holds every connector this account ever met, also the disconnected: their version is evidence too. */
export const readSnapshot = async (tx: Tx, account: string): Promise<string> => {
  const revision = await revisionOf(tx, account);
  const rows = await tx
    .selectFrom('authorizations as a')
    .leftJoin('connections as c', 'c.id', 'a.default_connection_id')
    .select(['a.connector_id', 'a.version', 'c.id', 'c.state', 'c.connector_version'])
    .where('a.account_id', '=', account)
    .orderBy('a.connector_id')
    .execute();
  return snapshotText({
    accountId: account,
    serverEpoch: String(await serverEpoch(tx)),
    revision: String(revision),
    connectors: rows.map((row) => ({
      connectorId: row.connector_id,
      connectorVersion: row.connector_version ?? '',
      state: row.state ?? 'disconnected',
      connectionId: row.id ?? '',
      connectionVersion: String(row.version),
    })),
  });
};
