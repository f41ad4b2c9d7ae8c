/**
 * Authorization sessions: how a person connects. Started for one connector at one release version, completed with a secret,
 * observed, or canceled; at most one is open for an account and connector. Facts: tutti-client 1.4.
 */
import type { Session, SessionCommand } from '../protocol/session.ts';
import { accepts, currentBinding } from './bindings.ts';
import type { Change, Scope } from './changes.ts';
import { connect, type Ground } from './connections.ts';
import { Problem } from './problems.ts';
import type { Schema, SessionStatus } from './schema.ts';
import type { Tx } from './store.ts';
import type { Selectable } from 'kysely';

export type StartRequest = Extract<SessionCommand, { kind: 'start' }>;

type Row = Selectable<Schema['authorization_sessions']>;

/** Time for a person to fetch a key from somewhere. */
export const sessionTtlMs: number = 10 * 60_000;

const view = (row: Row): Session => ({
  sessionId: row.id,
  connectorRevision: row.connector_version,
  status: row.status,
  resultConnectionId: row.result_connection_id === '' ? null : row.result_connection_id,
  errorCode: row.error_code === '' ? null : row.error_code,
  nextAction: row.status === 'AWAITING_USER' ? { type: 'submit_secret' } : null,
});

/** Starts a session; the same client request again answers the same session. Throws a {@link Problem}. */
export const startSession = async (tx: Tx, { edge }: Ground, scope: Scope, asked: StartRequest): Promise<Session> => {
  await requireBinding(tx, scope.connector, asked.connectorVersion);
  const now = edge.now();
  await expireOpen(tx, scope, now);
  const same = await ofScope(tx, scope).where('client_request_id', '=', asked.clientRequestId).executeTakeFirst();
  if (same !== undefined) return repeated(same, asked);
  await makeRoom(tx, scope, asked);
  const row: Row = {
    id: edge.newId(),
    account_id: scope.account,
    connector_id: scope.connector,
    connector_version: asked.connectorVersion,
    client_request_id: asked.clientRequestId,
    status: 'AWAITING_USER',
    result_connection_id: '',
    error_code: '',
    created_at: now,
    expires_at: now + sessionTtlMs,
  };
  await tx.insertInto('authorization_sessions').values(row).execute();
  return view(row);
};

const requireBinding = async (tx: Tx, connector: string, version: string): Promise<void> => {
  const binding = await currentBinding(tx, connector);
  if (binding === undefined)
    throw new Problem('connector_not_found', 'This server has no published binding for that connector.');
  if (!accepts(binding, version)) {
    throw new Problem(
      'connector_version_unsupported',
      'This server does not serve that release; update the connector.',
    );
  }
  if (binding.binding.authorization !== 'api_key') {
    throw new Problem('authorization_kind_unsupported', 'That connector is not connected with a key.');
  }
};

const repeated = (row: Row, asked: StartRequest): Session => {
  if (row.connector_version === asked.connectorVersion) return view(row);
  throw new Problem('request_reused', 'That clientRequestId was used for another release; take a new one.');
};

const makeRoom = async (tx: Tx, scope: Scope, asked: StartRequest): Promise<void> => {
  const open = await ofScope(tx, scope).where('status', '=', 'AWAITING_USER').executeTakeFirst();
  if (open === undefined) return;
  if (!asked.replace) {
    throw new Problem(
      'session_active',
      'Another session is open; complete or cancel it, or start by replacing the active one.',
    );
  }
  await end(tx, open, 'CANCELED', 'session_replaced');
};

/** Completes a session with a secret: the connection, its version and the account's revision are one transaction with it. */
export const completeSession = async (
  tx: Tx,
  ground: Ground,
  account: string,
  id: string,
  secret: string,
): Promise<{ readonly answer: Session; readonly change: Change }> => {
  const row = await require(tx, ground, account, id);
  if (row.status !== 'AWAITING_USER') {
    throw new Problem('session_finished', 'That session is over; look at its state, or start a new one.');
  }
  const scope = { account, connector: row.connector_id };
  await requireBinding(tx, row.connector_id, row.connector_version);
  const { connection, change } = await connect(tx, ground, scope, { secret, connectorVersion: row.connector_version });
  return { answer: view(await end(tx, row, 'SUCCEEDED', '', connection)), change };
};

/** The state of a session of this account. Throws a {@link Problem} for one of anybody else's. */
export const observeSession = async (tx: Tx, ground: Ground, account: string, id: string): Promise<Session> =>
  view(await require(tx, ground, account, id));

/** Cancels an open session; one that is over already stays as it ended. */
export const cancelSession = async (tx: Tx, ground: Ground, account: string, id: string): Promise<Session> => {
  const row = await require(tx, ground, account, id);
  if (row.status === 'SUCCEEDED') {
    throw new Problem('session_finished', 'That session succeeded; disconnect the connector instead.');
  }
  return view(row.status === 'AWAITING_USER' ? await end(tx, row, 'CANCELED', 'authorization_canceled') : row);
};

const ofScope = (tx: Tx, { account, connector }: Scope) =>
  tx
    .selectFrom('authorization_sessions')
    .selectAll()
    .where('account_id', '=', account)
    .where('connector_id', '=', connector);

const require = async (tx: Tx, { edge }: Ground, account: string, id: string): Promise<Row> => {
  const found = tx.selectFrom('authorization_sessions').selectAll().where('id', '=', id);
  const row = await found.where('account_id', '=', account).executeTakeFirst();
  if (row === undefined) throw new Problem('session_not_found', 'This account has no such session; start a new one.');
  const over = row.status === 'AWAITING_USER' && row.expires_at <= edge.now();
  return over ? end(tx, row, 'FAILED', 'session_expired') : row;
};

const expireOpen = async (tx: Tx, scope: Scope, now: number): Promise<void> => {
  const open = await ofScope(tx, scope).where('status', '=', 'AWAITING_USER').executeTakeFirst();
  if (open !== undefined && open.expires_at <= now) await end(tx, open, 'FAILED', 'session_expired');
};

const end = async (tx: Tx, row: Row, status: SessionStatus, errorCode: string, connection = ''): Promise<Row> => {
  const ended = { status, error_code: errorCode, result_connection_id: connection };
  await tx.updateTable('authorization_sessions').set(ended).where('id', '=', row.id).execute();
  return { ...row, ...ended };
};
