/** The parts of an answer to somebody who has access: who they are, what was given out, and where the upstream is. */
import { createHash } from 'node:crypto';
import type { Principal, Upstream } from '../protocol/authority.ts';
import type { KeptCall } from './calls.ts';
import type { Scope } from './changes.ts';
import { readSecret } from './connections.ts';
import type { Access, GatheredAccount } from './decide.ts';
import type { Tx } from './store.ts';
import type { Vault } from './vault.ts';

export type Granted = Extract<Access, { outcome: 'authorized' }>;

export const scopeOf = ({ account, binding }: Granted): Scope => ({
  account: account.id,
  connector: binding.binding.connectorId,
});

export const principalOf = (account: GatheredAccount): Principal => ({
  tenantId: 1n,
  principalId: BigInt(account.number),
  principalType: 'USER',
  principalName: account.id,
  displayName: account.displayName,
  clientId: '',
});

/** The row of a call that is given out, so far as it follows from the access. */
export const callRow = (access: Granted, id: string, now: number): Omit<KeptCall, 'kind'> => ({
  id,
  account_id: access.account.id,
  connector_id: access.binding.binding.connectorId,
  connection_id: access.connection.id,
  connection_version: access.connection.version,
  decided_at: now,
});

/** Where to forward one call, with the credential in the clear. Throws VaultRefused when it can't be opened. */
export const upstreamOf = async (tx: Tx, vault: Vault, access: Granted): Promise<Upstream> => {
  const { endpoint, mode, allowedHosts, privateNetwork, injection, limits, ref } = access.binding.binding;
  const { id, version } = access.connection;
  const credential = injection.kind === 'none' ? '' : await readSecret(tx, vault, scopeOf(access), id);
  const scope = JSON.stringify([access.account.id, id, version, ref, access.binding.revision]);
  const contractScope = createHash('sha256').update(scope).digest('base64url');
  return { endpoint, mode, allowedHosts, privateNetwork, injection, limits: said(limits), credential, contractScope };
};

// A limit that is not set is left out, not handed on as undefined.
const said = (limits: Readonly<Record<string, number | undefined>>): Upstream['limits'] =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
