/**
 * The control plane: what a daemon asks with its account session. Facts: tutti-client 1.3, 1.4. Account and connector come from
 * the session and the path; no body can name another account.
 */
import type { Context, Hono } from 'hono';
import { sessionToken } from '../protocol/accountToken.ts';
import { BadSession, readSessionCommand, sessionText, type Session, type SessionCommand } from '../protocol/session.ts';
import { signedIn, type SignedIn } from './accounts.ts';
import { cancelSession, completeSession, observeSession, startSession } from './authorizationSessions.ts';
import { commitChange, revisionOf, type Announcements } from './changes.ts';
import { disconnect, type Ground } from './connections.ts';
import { Problem } from './problems.ts';
import { openRateLimit, type Rate } from './rateLimit.ts';
import { jsonBytes, newDoor } from './requests.ts';
import { readSnapshot } from './snapshot.ts';
import type { Store, Tx } from './store.ts';

export interface ControlParts extends Ground {
  readonly store: Store;
  readonly announcements: Announcements;
  readonly rates: { readonly reads: Rate; readonly writes: Rate };
}

/** The routes of the control plane. */
export const controlApi = (parts: ControlParts): Hono => {
  const door = newDoor(parts.edge.log);
  const { store, announcements } = parts;
  const limit = { reads: openRateLimit(parts.rates.reads), writes: openRateLimit(parts.rates.writes) };

  /** Who asks, or a refusal; counted against the account's rate. */
  const identify = async (context: Context, kind: 'reads' | 'writes'): Promise<string> => {
    const { account } = await authenticate(parts, context.req.header());
    const waitMs = limit[kind].take(account, parts.edge.now());
    if (waitMs > 0)
      throw new Problem('rate_limited', 'Too many requests of this account; wait as long as Retry-After says.', waitMs);
    return account;
  };

  door.get('/v1/health', (context) => context.json({ ok: true }));

  door.get('/v1/connector-authorizations/snapshot', async (context) => {
    const account = await identify(context, 'reads');
    return asJson(context, await store.inTransaction((tx) => readSnapshot(tx, account)));
  });

  door.post('/v1/connectors/:connector/authorization-sessions', async (context) => {
    const scope = { account: await identify(context, 'writes'), connector: context.req.param('connector') };
    const asked = await command(context, 'start');
    return reply(context, await store.inTransaction((tx) => startSession(tx, parts, scope, asked)));
  });

  door.post('/v1/connector-authorization-sessions/:session/complete', async (context) => {
    const account = await identify(context, 'writes');
    const { secret } = await command(context, 'complete');
    const complete = (tx: Tx) => completeSession(tx, parts, account, context.req.param('session'), secret);
    return reply(context, await commitChange(store, announcements, complete));
  });

  door.get('/v1/connector-authorization-sessions/:session', async (context) => {
    const account = await identify(context, 'reads');
    const observe = (tx: Tx) => observeSession(tx, parts, account, context.req.param('session'));
    return reply(context, await store.inTransaction(observe));
  });

  door.delete('/v1/connector-authorization-sessions/:session', async (context) => {
    const account = await identify(context, 'writes');
    const cancel = (tx: Tx) => cancelSession(tx, parts, account, context.req.param('session'));
    return reply(context, await store.inTransaction(cancel));
  });

  door.delete('/v1/connectors/:connector/authorization', async (context) => {
    const scope = { account: await identify(context, 'writes'), connector: context.req.param('connector') };
    const revision = await commitChange(store, announcements, async (tx) => {
      const change = await disconnect(tx, scope);
      return { answer: change?.revision ?? (await revisionOf(tx, scope.account)), change };
    });
    return context.json({ connectorId: scope.connector, state: 'disconnected', revision: String(revision) });
  });

  return door;
};

const asJson = (context: Context, text: string): Response =>
  context.body(text, 200, { 'content-type': 'application/json' });

const reply = (context: Context, session: Session): Response => asJson(context, sessionText(session));

/** The body of start or complete. Throws a {@link Problem} that names what is missing and quotes nothing. */
const command = async <K extends SessionCommand['kind']>(
  context: Context,
  kind: K,
): Promise<Extract<SessionCommand, { kind: K }>> => {
  const bytes = await jsonBytes(context);
  try {
    const read = readSessionCommand(kind, bytes);
    if (read.kind === 'complete' && /[\u0000-\u001f\u007f]/.test(read.secret)) {
      // It will stand in a header, where a line break would begin another one.
      throw new BadSession('a secret has no control characters');
    }
    return read as Extract<SessionCommand, { kind: K }>;
  } catch (error) {
    if (error instanceof BadSession) throw new Problem('malformed', `Not as this request needs it: ${error.message}.`);
    throw error;
  }
};

/** The account of a request. Throws a {@link Problem}: 401 without a session that holds, 403 for a disabled account. */
export const authenticate = async (
  { store, edge }: Pick<ControlParts, 'store' | 'edge'>,
  headers: { readonly cookie?: string | undefined; readonly authorization?: string | undefined },
): Promise<SignedIn> => {
  const token = sessionToken(headers);
  const found = token === undefined ? undefined : await store.inTransaction((tx) => signedIn(tx, token, edge.now()));
  if (found === undefined)
    throw new Problem('unauthenticated', 'Sign in again: this request carries no session that holds.');
  if (!found.enabled) throw new Problem('account_disabled', 'This account is disabled; ask its operator.');
  return found;
};
