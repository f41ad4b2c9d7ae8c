/**
 * What a store is filled with at its first start, as data: two demo accounts and one binding. No other people live here.
 * Seeding again adds what is missing and publishes a binding only when it says something new.
 */
import { ensureAccount, ensureServerEpoch } from './accounts.ts';
import { bindingSchema, publishBinding, type Binding } from './bindings.ts';
import type { Edge } from './log.ts';
import type { Tx } from './store.ts';

export interface Seed {
  readonly accounts: readonly { readonly id: string; readonly displayName: string }[];
  readonly bindings: readonly Binding[];
}

/** Nothing: a server whose accounts come from elsewhere. */
export const emptySeed: Seed = { accounts: [], bindings: [] };

/** The demo's world: `ann`, `bob`, and the binding of `everything` to a business server on this machine. */
export const demoSeed = (options: { readonly everythingEndpoint: string }): Seed => ({
  accounts: [
    { id: 'ann', displayName: 'Ann' },
    { id: 'bob', displayName: 'Bob' },
  ],
  bindings: [
    bindingSchema.parse({
      ref: 'everything.primary',
      connectorId: 'everything',
      endpoint: options.everythingEndpoint,
      mode: 'legacy',
      allowedHosts: [new URL(options.everythingEndpoint).host],
      privateNetwork: true,
      injection: { kind: 'header', name: 'Authorization', prefix: 'Bearer ' },
      limits: {},
      connectorVersions: { from: '0.0.0', before: null },
      contractVersion: 1,
      capabilities: ['tools'],
      authorization: 'api_key',
      risk: { otherwise: 'LOW', tools: {} },
    }),
  ],
});

export const plantSeed = async (tx: Tx, edge: Edge, seed: Seed): Promise<void> => {
  await ensureServerEpoch(tx, edge);
  for (const { id, displayName } of seed.accounts) await ensureAccount(tx, edge, id, displayName);
  for (const binding of seed.bindings) await publishBinding(tx, edge, binding);
};
