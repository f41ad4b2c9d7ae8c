/**
 * The operator's door, on its own listener behind its own token: what happens to accounts and connections without the person's
 * daemon. Rotating, revoking and expiring here is what providers and administrators do in the world outside.
 */
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { sessionCookie } from '../protocol/accountToken.ts';
import { limits } from '../protocol/limits.ts';
import { issueSession, listAccounts, raiseServerEpoch, requireAccount, revokeSessions } from './accounts.ts';
import { readAudit } from './audit.ts';
import { commitChange, revisionOf, type Change, type Scope } from './changes.ts';
import { answerConfirmation, openConfirmations } from './confirmations.ts';
import {
  addConnection,
  connectionsOf,
  defaultConnection,
  disconnect,
  expire,
  rotate,
  switchDefault,
} from './connections.ts';
import type { ControlParts } from './controlApi.ts';
import type { Drain } from './drain.ts';
import { Problem } from './problems.ts';
import { newDoor, readBody, sameSecret } from './requests.ts';
import { readSnapshot } from './snapshot.ts';
import type { Tx } from './store.ts';

export interface AdminParts extends ControlParts {
  readonly adminToken: string;
  readonly drain: Drain;
  /** Told which sessions ended, so that their channels end too. */
  readonly sessionsEnded: (sessions: readonly string[]) => void;
}

const secretText = z
  .string()
  .min(1)
  .max(limits.secretBytes)
  .regex(/^[^\u0000-\u001f\u007f]*$/);
const noBody = z.object({});
const rotateBody = z.object({ secret: secretText.optional() });
const expireBody = z.object({ reason: z.string().max(256).default('expired') });
const connectionBody = z.object({ secret: secretText, connectorVersion: z.string().min(1).max(64) });
const defaultBody = z.object({ connectionId: z.string().min(1).max(64) });
const sessionBody = z.object({ ttlMs: z.number().int().min(1000).optional() });
const answerBody = z.object({ by: z.string().min(1).max(191) });
const auditQuery = z.object({
  account: z.string().max(191).optional(),
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

const defaultSessionMs = 30 * 24 * 3_600_000;

/** The routes of the operator's door. */
export const adminApi = (parts: AdminParts): Hono => {
  const door = newDoor(parts.edge.log);
  door.use(async (context, next) => {
    const given = /^Bearer (.+)$/.exec(context.req.header('authorization') ?? '')?.[1] ?? '';
    if (!sameSecret(given, parts.adminToken)) throw new Problem('unauthenticated', 'Send the admin token as a bearer.');
    await next();
  });
  accountRoutes(door, parts);
  connectorRoutes(door, parts);
  confirmationRoutes(door, parts);
  serverRoutes(door, parts);
  return door;
};

const accountRoutes = (door: Hono, parts: AdminParts): void => {
  const { store, edge } = parts;
  door.get('/v1/accounts', async (context) => context.json({ accounts: await store.inTransaction(listAccounts) }));

  door.get('/v1/accounts/:account/snapshot', async (context) => {
    const text = await store.inTransaction((tx) => known(tx, context, (account) => readSnapshot(tx, account)));
    return context.body(text, 200, { 'content-type': 'application/json' });
  });

  door.post('/v1/accounts/:account/sessions', async (context) => {
    const { ttlMs = defaultSessionMs } = await readBody(context, sessionBody);
    const account = context.req.param('account');
    const issued = await store.inTransaction((tx) => issueSession(tx, edge, account, ttlMs));
    const { sessionId, token, expiresAtMs } = issued;
    // The shape of the file that a daemon reads its login from, next to the token alone.
    const session = { session_id: sessionId, cookie: `${sessionCookie}=${token}`, user_id: account };
    return context.json({ account, token, expiresAtMs, session }, 201);
  });

  door.delete('/v1/accounts/:account/sessions', async (context) => {
    const ended = await store.inTransaction((tx) => revokeSessions(tx, edge, context.req.param('account')));
    parts.sessionsEnded(ended);
    return context.json({ ended: ended.length });
  });
};

const connectorRoutes = (door: Hono, parts: AdminParts): void => {
  const base = '/v1/accounts/:account/connectors/:connector';

  /** Makes a change, announces it, and answers where the scope stands now. */
  const change = async (
    context: Context,
    make: (tx: Tx, scope: Scope) => Promise<Change | null>,
  ): Promise<Response> => {
    const scope = scopeOf(context);
    const answer = await commitChange(parts.store, parts.announcements, async (tx) => {
      await requireAccount(tx, scope.account);
      const made = await make(tx, scope);
      return { answer: await standing(tx, scope, made), change: made };
    });
    return context.json(answer);
  };

  door.get(`${base}/connections`, async (context) => {
    const list = (tx: Tx) => known(tx, context, () => connectionsOf(tx, scopeOf(context)));
    return context.json({ connections: await parts.store.inTransaction(list) });
  });

  door.post(`${base}/connections`, async (context) => {
    const given = await readBody(context, connectionBody);
    const add = (tx: Tx) => known(tx, context, () => addConnection(tx, parts, scopeOf(context), given));
    return context.json({ connectionId: await parts.store.inTransaction(add) }, 201);
  });

  door.post(`${base}/rotate`, async (context) => {
    const { secret } = await readBody(context, rotateBody);
    return change(context, (tx, scope) => rotate(tx, parts, scope, secret));
  });

  door.post(`${base}/expire`, async (context) => {
    const { reason } = await readBody(context, expireBody);
    return change(context, (tx, scope) => expire(tx, parts, scope, reason));
  });

  door.post(`${base}/revoke`, async (context) => {
    await readBody(context, noBody);
    return change(context, disconnect);
  });

  door.post(`${base}/default`, async (context) => {
    const { connectionId } = await readBody(context, defaultBody);
    return change(context, (tx, scope) => switchDefault(tx, scope, connectionId));
  });
};

const confirmationRoutes = (door: Hono, { store, edge, drain }: AdminParts): void => {
  const base = '/v1/accounts/:account/confirmations';
  door.get(base, async (context) => {
    const list = (tx: Tx) => known(tx, context, (account) => openConfirmations(tx, edge, account));
    return context.json({ confirmations: await store.inTransaction(list) });
  });

  for (const [path, approved] of [
    ['approve', true],
    ['deny', false],
  ] as const) {
    door.post(`${base}/:id/${path}`, async (context) => {
      const { by } = await readBody(context, answerBody);
      const { account, id } = context.req.param();
      await store.inTransaction((tx) => answerConfirmation(tx, edge, account, id, { approved, by }));
      drain.wake();
      return context.json({ id, approved });
    });
  }
};

const serverRoutes = (door: Hono, { store, edge, drain }: AdminParts): void => {
  door.post('/v1/server/restored', async (context) => {
    await readBody(context, noBody);
    return context.json({ serverEpoch: String(await store.inTransaction((tx) => raiseServerEpoch(tx, edge))) });
  });

  door.get('/v1/audit', async (context) => {
    const asked = auditQuery.safeParse(context.req.query());
    if (!asked.success) throw new Problem('malformed', 'Query: account, before (a sequence), limit (1 to 500).');
    await drain.settled();
    const { account, before, limit } = asked.data;
    const found = { limit, ...(account !== undefined && { account }), ...(before !== undefined && { before }) };
    return context.json({ entries: await store.inTransaction((tx) => readAudit(tx, found)) });
  });
};

const scopeOf = (context: Context): Scope => ({
  account: context.req.param('account') ?? '',
  connector: context.req.param('connector') ?? '',
});

const known = async <T>(tx: Tx, context: Context, work: (account: string) => Promise<T>): Promise<T> => {
  const { account } = scopeOf(context);
  await requireAccount(tx, account);
  return work(account);
};

const standing = async (tx: Tx, scope: Scope, change: Change | null): Promise<Readonly<Record<string, unknown>>> => {
  const connection = await defaultConnection(tx, scope);
  return {
    ...scope,
    changed: change !== null,
    state: connection?.state ?? 'disconnected',
    revision: String(await revisionOf(tx, scope.account)),
    ...(change !== null && { connectionVersion: String(change.connectionVersion) }),
  };
};
