/** How the store came to its present shape, oldest first. A migration that was released never changes; the next one amends. */
import { sql, type Kysely, type Migration, type MigrationProvider } from 'kysely';

const statements001 = `
create table meta (key text primary key, value text not null) strict, without rowid;

create table accounts (
  id text not null unique, number integer primary key autoincrement, display_name text not null,
  enabled integer not null, revision integer not null, created_at integer not null) strict;

create table account_sessions (
  id text primary key, account_id text not null references accounts(id), token_hash text not null unique,
  created_at integer not null, expires_at integer not null, revoked_at integer) strict;
create index account_sessions_by_account on account_sessions (account_id);

create table bindings (
  sequence integer primary key autoincrement, ref text not null, revision integer not null, connector_id text not null,
  status text not null check (status in ('draft', 'published')), content text not null, contract_hash text not null,
  created_at integer not null, published_at integer, unique (ref, revision)) strict;
create index bindings_by_connector on bindings (connector_id, status, sequence);
create trigger bindings_published_never_change before update on bindings when old.status = 'published'
  begin select raise(abort, 'a published binding never changes'); end;
create trigger bindings_published_stay before delete on bindings when old.status = 'published'
  begin select raise(abort, 'a published binding is never deleted'); end;

create table connections (
  id text primary key, account_id text not null references accounts(id), connector_id text not null,
  state text not null check (state in ('connected', 'reauth_required')), connector_version text not null,
  reason text not null, created_at integer not null, updated_at integer not null) strict;
create index connections_by_account on connections (account_id, connector_id);

create table authorizations (
  account_id text not null references accounts(id), connector_id text not null, version integer not null,
  default_connection_id text references connections(id) deferrable initially deferred,
  primary key (account_id, connector_id)) strict, without rowid;
create trigger authorizations_version_never_falls before update on authorizations when new.version < old.version
  begin select raise(abort, 'a connection version never goes back'); end;
create trigger authorizations_stay before delete on authorizations
  begin select raise(abort, 'a connection version is never forgotten'); end;
create trigger accounts_revision_never_falls before update on accounts when new.revision < old.revision
  begin select raise(abort, 'a revision never goes back'); end;

create table account_keys (
  id text primary key, account_id text not null references accounts(id), kek_id text not null, nonce blob not null,
  wrapped blob not null, writes integer not null, created_at integer not null, retired_at integer) strict;
create unique index account_keys_current on account_keys (account_id) where retired_at is null;
create table used_nonces (
  key_id text not null references account_keys(id), nonce blob not null, primary key (key_id, nonce)) strict, without rowid;
create table secrets (
  connection_id text not null references connections(id) on delete cascade, field text not null,
  key_id text not null references account_keys(id), nonce blob not null, ciphertext blob not null,
  schema integer not null, primary key (connection_id, field)) strict;

create table authorization_sessions (
  id text primary key, account_id text not null references accounts(id), connector_id text not null,
  connector_version text not null, client_request_id text not null,
  status text not null check (status in ('AWAITING_USER', 'SUCCEEDED', 'FAILED', 'CANCELED')),
  result_connection_id text not null, error_code text not null, created_at integer not null, expires_at integer not null,
  unique (account_id, connector_id, client_request_id)) strict;
create unique index authorization_sessions_open on authorization_sessions (account_id, connector_id)
  where status = 'AWAITING_USER';

create table calls (
  id text primary key, kind text not null check (kind in ('list', 'call')), account_id text not null references accounts(id),
  connector_id text not null, connection_id text not null, connection_version integer not null, tool_name text not null,
  argument_digest text not null, idempotency_key text, decided_at integer not null, ended_at integer, outcome text,
  outcome_detail text not null, result_key_id text references account_keys(id), result_nonce blob, result blob) strict;
create unique index calls_once on calls (account_id, connector_id, idempotency_key) where idempotency_key is not null;
create index calls_by_time on calls (decided_at);

create table confirmations (
  id text primary key, account_id text not null references accounts(id), connector_id text not null,
  connection_id text not null, tool_name text not null, argument_digest text not null, definition_hash text not null,
  idempotency_key text not null, state text not null check (state in ('pending', 'approved', 'denied', 'consumed')),
  decided_by text not null, created_at integer not null, expires_at integer not null,
  unique (account_id, connector_id, idempotency_key)) strict;

create table outbox (
  sequence integer primary key autoincrement, dedupe_id text not null unique, payload text not null,
  created_at integer not null) strict;
create table audit_log (
  sequence integer primary key autoincrement, dedupe_id text not null unique, account_id text not null,
  payload text not null, recorded_at integer not null) strict;
create index audit_log_by_account on audit_log (account_id, sequence);
`;

// A trigger's body holds semicolons of its own, so a statement ends at a line's end.
const each = (text: string): readonly string[] =>
  text.split(/;\s*\n(?!\s*(?:begin|end))/).filter((one) => one.trim() !== '');

const run = (text: string): Migration => ({
  up: async (db: Kysely<unknown>): Promise<void> => {
    for (const statement of each(text)) await sql.raw(statement).execute(db);
  },
});

const migrations: Record<string, Migration> = { '001': run(statements001) };

export const migrationProvider: MigrationProvider = { getMigrations: () => Promise.resolve(migrations) };
