/**
 * Everything a decision needs, in one query: session, account, newest published binding, default connection. The by-name lookup
 * of what is asked for runs here and nowhere else, exactly once for each question. DESIGN 8; seed 2.
 */
import type { CallOutcome } from '../protocol/authority.ts';
import { hashToken } from './accounts.ts';
import { readBinding } from './bindings.ts';
import type { Confirmation, EarlierCall, Gathered } from './decide.ts';
import type { Tx } from './store.ts';

/** What is known about this token and this connector at this instant. Unknown, revoked and expired tokens look alike: nothing. */
export const gather = async (tx: Tx, token: string, connector: string, now: number): Promise<Gathered> => {
  const row = await tx
    .selectFrom('account_sessions as s')
    .innerJoin('accounts as a', 'a.id', 's.account_id')
    .leftJoin('authorizations as z', (on) => on.onRef('z.account_id', '=', 'a.id').on('z.connector_id', '=', connector))
    .leftJoin('connections as c', 'c.id', 'z.default_connection_id')
    .leftJoin('bindings as b', (on) =>
      on.on('b.sequence', '=', (eb) =>
        eb
          .selectFrom('bindings as n')
          .select((n) => n.fn.max('n.sequence').as('newest'))
          .where('n.connector_id', '=', connector)
          .where('n.status', '=', 'published'),
      ),
    )
    .select(['a.id as account', 'a.number', 'a.display_name', 'a.enabled'])
    .select(['b.revision', 'b.content', 'b.contract_hash', 'z.version', 'c.id as connection', 'c.state'])
    .where('s.token_hash', '=', hashToken(token))
    .where('s.revoked_at', 'is', null)
    .where('s.expires_at', '>', now)
    .executeTakeFirst();
  if (row === undefined) return { account: null, binding: null, connection: null };
  const { account: id, number, display_name: displayName, enabled, revision, content, contract_hash } = row;
  return {
    account: { id, number, displayName, enabled: enabled === 1 },
    binding:
      content === null || revision === null
        ? null
        : readBinding({ revision, content, contract_hash: contract_hash ?? '' }),
    connection: connectionOf(row),
  };
};

const connectionOf = (row: {
  connection: string | null;
  version: number | null;
  state: 'connected' | 'reauth_required' | null;
}): Gathered['connection'] =>
  row.connection === null || row.version === null || row.state === null
    ? null
    : { id: row.connection, version: row.version, state: row.state };

/** What was asked under an idempotency key before. */
export interface Before {
  readonly earlier: (EarlierCall & { readonly id: string }) | null;
  readonly confirmation: Confirmation | null;
}

export const gatherBefore = async (tx: Tx, account: string, connector: string, key: string): Promise<Before> => {
  if (key === '') return { earlier: null, confirmation: null };
  const call = await tx
    .selectFrom('calls')
    .select(['id', 'tool_name', 'argument_digest', 'decided_at', 'outcome'])
    .where('account_id', '=', account)
    .where('connector_id', '=', connector)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
  const confirmation = await tx
    .selectFrom('confirmations')
    .selectAll()
    .where('account_id', '=', account)
    .where('connector_id', '=', connector)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
  return {
    earlier:
      call === undefined
        ? null
        : {
            id: call.id,
            toolName: call.tool_name,
            argumentDigest: call.argument_digest,
            decidedAtMs: call.decided_at,
            outcome: call.outcome as CallOutcome | null,
          },
    confirmation:
      confirmation === undefined
        ? null
        : {
            id: confirmation.id,
            connectionId: confirmation.connection_id,
            toolName: confirmation.tool_name,
            argumentDigest: confirmation.argument_digest,
            definitionHash: confirmation.definition_hash,
            state: confirmation.state,
            expiresAtMs: confirmation.expires_at,
          },
  };
};
