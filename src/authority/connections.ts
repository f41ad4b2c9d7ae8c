/**
 * Connections: an account's credential at a connector, sealed. Each function runs inside the caller's transaction, takes the
 * scope first (no connection is ever found by its id alone) and answers the change it made, or `null` when there was nothing to do.
 */
import { recordChange, type Change, type Scope } from './changes.ts';
import type { Edge } from './log.ts';
import { Problem } from './problems.ts';
import type { Tx } from './store.ts';
import type { SecretPlace, Vault } from './vault.ts';

/** What every function here works with. */
export interface Ground {
  readonly edge: Edge;
  readonly vault: Vault;
}

const field = 'api_key';

export interface DefaultConnection {
  readonly id: string;
  readonly state: 'connected' | 'reauth_required';
  readonly version: number;
}

/** The default connection of a scope, `undefined` when it has none. */
export const defaultConnection = (tx: Tx, { account, connector }: Scope): Promise<DefaultConnection | undefined> =>
  tx
    .selectFrom('authorizations as a')
    .innerJoin('connections as c', 'c.id', 'a.default_connection_id')
    .select(['c.id', 'c.state', 'a.version'])
    .where('a.account_id', '=', account)
    .where('a.connector_id', '=', connector)
    .executeTakeFirst();

/** Adds a connection beside the default one, without becoming it. Answers its id; routing does not change. */
export const addConnection = async (
  tx: Tx,
  ground: Ground,
  scope: Scope,
  given: { readonly secret: string; readonly connectorVersion: string },
): Promise<string> => {
  const id = ground.edge.newId();
  const now = ground.edge.now();
  const named = {
    id,
    account_id: scope.account,
    connector_id: scope.connector,
    connector_version: given.connectorVersion,
  };
  await tx
    .insertInto('connections')
    .values({ ...named, state: 'connected', reason: '', created_at: now, updated_at: now })
    .execute();
  await storeSecret(tx, ground, scope, id, given.secret);
  return id;
};

/** A person connected: the new connection becomes the default one, and the one it replaces is forgotten with its secret. */
export const connect = async (
  tx: Tx,
  ground: Ground,
  scope: Scope,
  given: { readonly secret: string; readonly connectorVersion: string },
): Promise<{ readonly connection: string; readonly change: Change }> => {
  const before = await defaultConnection(tx, scope);
  const connection = await addConnection(tx, ground, scope, given);
  const change = await recordChange(tx, scope, connection, 'connected');
  if (before !== undefined) await forget(tx, scope, before.id);
  return { connection, change };
};

/** The secret was renewed at its source. Without a new one the stored one is sealed anew: the version rises all the same. */
export const rotate = async (tx: Tx, ground: Ground, scope: Scope, secret: string | undefined): Promise<Change> => {
  const { id } = await connected(tx, scope);
  await storeSecret(tx, ground, scope, id, secret ?? (await readSecret(tx, ground.vault, scope, id)));
  await setState(tx, ground, id, 'connected', '');
  return recordChange(tx, scope, id, 'rotated');
};

/** Ends every connection of the scope. Its version stays, so that a later connection is newer than any before. */
export const disconnect = async (tx: Tx, scope: Scope): Promise<Change | null> => {
  const before = await defaultConnection(tx, scope);
  const change = before === undefined ? null : await recordChange(tx, scope, null, 'disconnected');
  await tx
    .deleteFrom('connections')
    .where('account_id', '=', scope.account)
    .where('connector_id', '=', scope.connector)
    .execute();
  return change;
};

/** The credential of the default connection no longer holds. */
export const expire = async (tx: Tx, ground: Ground, scope: Scope, reason: string): Promise<Change | null> => {
  const { id, state } = await connected(tx, scope);
  if (state === 'reauth_required') return null;
  await setState(tx, ground, id, 'reauth_required', reason);
  return recordChange(tx, scope, id, 'reauth_required');
};

/**
 * An upstream refused the credential that was given out for a call. Only the very version that was refused is marked: a person
 * may have connected anew while the call was under way.
 */
export const refuseUpstream = async (
  tx: Tx,
  ground: Ground,
  scope: Scope,
  used: { readonly connection: string; readonly version: number },
): Promise<Change | null> => {
  const now = await defaultConnection(tx, scope);
  const current = now !== undefined && now.id === used.connection && now.version === used.version;
  return current && now.state === 'connected' ? expire(tx, ground, scope, 'upstream refused the credential') : null;
};

/** Makes another connection of the scope the default one. Throws a {@link Problem} when the scope has no such connection. */
export const switchDefault = async (tx: Tx, scope: Scope, connection: string): Promise<Change | null> => {
  const found = await within(tx, scope).where('id', '=', connection).executeTakeFirst();
  if (found === undefined) throw new Problem('not_found', 'This account has no such connection; list its connections.');
  if ((await defaultConnection(tx, scope))?.id === connection) return null;
  return recordChange(tx, scope, connection, 'default_switched');
};

/** The connections of a scope, oldest first, without a word of their secrets. */
export const connectionsOf = (
  tx: Tx,
  scope: Scope,
): Promise<
  readonly {
    readonly id: string;
    readonly state: string;
    readonly connector_version: string;
    readonly reason: string;
  }[]
> => within(tx, scope).orderBy('created_at').orderBy('id').execute();

const within = (tx: Tx, { account, connector }: Scope) =>
  tx
    .selectFrom('connections')
    .select(['id', 'state', 'connector_version', 'reason'])
    .where('account_id', '=', account)
    .where('connector_id', '=', connector);

const connected = async (tx: Tx, scope: Scope): Promise<DefaultConnection> => {
  const found = await defaultConnection(tx, scope);
  if (found !== undefined) return found;
  throw new Problem('not_connected', 'This account has no connection to that connector: connect it first.');
};

const forget = (tx: Tx, { account, connector }: Scope, id: string): Promise<unknown> =>
  tx
    .deleteFrom('connections')
    .where('id', '=', id)
    .where('account_id', '=', account)
    .where('connector_id', '=', connector)
    .execute();

const setState = (
  tx: Tx,
  { edge }: Ground,
  id: string,
  state: DefaultConnection['state'],
  reason: string,
): Promise<unknown> =>
  tx.updateTable('connections').set({ state, reason, updated_at: edge.now() }).where('id', '=', id).execute();

const placeOf = ({ account, connector }: Scope, connection: string): SecretPlace => ({
  account,
  connector,
  connection,
  field,
});

const storeSecret = async (
  tx: Tx,
  { vault }: Ground,
  scope: Scope,
  connection: string,
  secret: string,
): Promise<void> => {
  const sealed = await vault.seal(tx, placeOf(scope, connection), secret);
  const { keyId: key_id, nonce, ciphertext, schema } = sealed;
  await tx.deleteFrom('secrets').where('connection_id', '=', connection).execute();
  await tx
    .insertInto('secrets')
    .values({ connection_id: connection, field, key_id, nonce, ciphertext, schema })
    .execute();
};

/** The secret of a connection in the clear, for the one call that needs it. Throws VaultRefused: then there is no credential. */
export const readSecret = async (tx: Tx, vault: Vault, scope: Scope, connection: string): Promise<string> => {
  const row = await tx
    .selectFrom('secrets')
    .selectAll()
    .where('connection_id', '=', connection)
    .where('field', '=', field)
    .executeTakeFirstOrThrow();
  return vault.open(tx, placeOf(scope, connection), {
    keyId: row.key_id,
    nonce: row.nonce,
    ciphertext: row.ciphertext,
    schema: row.schema,
  });
};
