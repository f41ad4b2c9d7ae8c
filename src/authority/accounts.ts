/**
 * Accounts and their sessions. A session's token is 32 random bytes, shown once and stored as SHA-256: whoever reads the store
 * can't sign in with it. (A token of 256 random bits needs no slow hash.)
 */
import { createHash } from 'node:crypto';
import type { Edge } from './log.ts';
import { Problem } from './problems.ts';
import type { Tx } from './store.ts';

export interface Account {
  readonly id: string;
  /** The numeric name that travels as principal id. */
  readonly number: number;
  readonly displayName: string;
  readonly enabled: boolean;
  readonly revision: number;
}

export interface IssuedSession {
  readonly sessionId: string;
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Who a token belongs to, as long as it holds. */
export interface SignedIn {
  readonly account: string;
  readonly sessionId: string;
  readonly enabled: boolean;
  readonly expiresAtMs: number;
}

export const hashToken = (token: string): string => createHash('sha256').update(token, 'utf8').digest('hex');

/** Adds an account unless it is there. Its state is never touched by a second time. */
export const ensureAccount = async (tx: Tx, edge: Edge, id: string, displayName: string): Promise<void> => {
  const row = { id, display_name: displayName, enabled: 1, revision: 0, created_at: edge.now() };
  await tx
    .insertInto('accounts')
    .values(row)
    .onConflict((on) => on.column('id').doNothing())
    .execute();
};

export const listAccounts = async (tx: Tx): Promise<readonly Account[]> => {
  const rows = await tx.selectFrom('accounts').selectAll().orderBy('number').execute();
  return rows.map((row) => ({
    id: row.id,
    number: row.number,
    displayName: row.display_name,
    enabled: row.enabled === 1,
    revision: row.revision,
  }));
};

/** Throws a {@link Problem} when there is no such account. */
export const requireAccount = async (tx: Tx, id: string): Promise<void> => {
  const found = await tx.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst();
  if (found === undefined) throw new Problem('account_not_found', 'There is no such account; list the accounts.');
};

/** The longest a session may live. */
export const maxSessionMs: number = 365 * 24 * 3_600_000;

export const issueSession = async (tx: Tx, edge: Edge, account: string, ttlMs: number): Promise<IssuedSession> => {
  await requireAccount(tx, account);
  const token = edge.randomBytes(32).toString('base64url');
  const now = edge.now();
  const issued = { sessionId: edge.newId(), token, expiresAtMs: now + Math.min(ttlMs, maxSessionMs) };
  await tx
    .insertInto('account_sessions')
    .values({
      id: issued.sessionId,
      account_id: account,
      token_hash: hashToken(token),
      created_at: now,
      expires_at: issued.expiresAtMs,
      revoked_at: null,
    })
    .execute();
  return issued;
};

/** Ends every session of an account. Answers the ids of those that still held. */
export const revokeSessions = async (tx: Tx, edge: Edge, account: string): Promise<readonly string[]> => {
  await requireAccount(tx, account);
  const ended = tx.updateTable('account_sessions').set({ revoked_at: edge.now() });
  const rows = await ended.where('account_id', '=', account).where('revoked_at', 'is', null).returning('id').execute();
  return rows.map((row) => row.id);
};

/** `undefined` for a token that is unknown, revoked or over; which of them is nobody's business. */
export const signedIn = async (tx: Tx, token: string, now: number): Promise<SignedIn | undefined> => {
  const row = await tx
    .selectFrom('account_sessions as s')
    .innerJoin('accounts as a', 'a.id', 's.account_id')
    .select(['s.id', 's.account_id', 's.expires_at', 'a.enabled'])
    .where('s.token_hash', '=', hashToken(token))
    .where('s.revoked_at', 'is', null)
    .where('s.expires_at', '>', now)
    .executeTakeFirst();
  return row && { account: row.account_id, sessionId: row.id, enabled: row.enabled === 1, expiresAtMs: row.expires_at };
};

const epochKey = 'server_epoch';

/** Number of this server's history. A store made anew or restored by hand counts a greater one, so that clients adopt it. */
export const serverEpoch = async (tx: Tx): Promise<number> => {
  const row = await tx.selectFrom('meta').select('value').where('key', '=', epochKey).executeTakeFirstOrThrow();
  return Number(row.value);
};

/** First start: the clock, so that a store made anew is greater than the one it replaces. Afterwards unchanged. */
export const ensureServerEpoch = async (tx: Tx, edge: Edge): Promise<void> => {
  const row = { key: epochKey, value: String(edge.now()) };
  await tx
    .insertInto('meta')
    .values(row)
    .onConflict((on) => on.column('key').doNothing())
    .execute();
};

/** An operator restored this store from a backup: what it says from now on is a new history. */
export const raiseServerEpoch = async (tx: Tx, edge: Edge): Promise<number> => {
  const next = Math.max((await serverEpoch(tx)) + 1, edge.now());
  await tx
    .updateTable('meta')
    .set({ value: String(next) })
    .where('key', '=', epochKey)
    .execute();
  return next;
};
