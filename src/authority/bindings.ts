/**
 * Bindings: the server's own contract of a connector's upstream. A draft becomes a published snapshot that never changes; the
 * newest published one counts. Endpoint, hosts and injection are the operator's and appear in no answer to a daemon. Seed 1.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Edge } from './log.ts';
import type { Tx } from './store.ts';
import { versionWithin } from './versionRange.ts';

const host = z
  .string()
  .regex(
    /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/,
    'a host in lower case, with its port when not the usual one',
  );
const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
const milliseconds = z.number().int().min(1).max(3_600_000);
const risk = z.enum(['LOW', 'MEDIUM', 'HIGH']);

const injectionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('header'), name: headerName, prefix: z.string().regex(/^[\x20-\x7e]{0,32}$/) }),
  z.strictObject({ kind: z.literal('query'), name: z.string().regex(/^[\w.-]{1,64}$/) }),
]);

const limitsSchema = z.strictObject({
  connectMs: milliseconds.optional(),
  firstByteMs: milliseconds.optional(),
  idleMs: milliseconds.optional(),
  totalMs: milliseconds.optional(),
  requestBytes: z.number().int().positive().optional(),
  resultBytes: z.number().int().positive().optional(),
  concurrency: z.number().int().min(1).max(1024).optional(),
});

export const bindingSchema = z
  .strictObject({
    ref: z
      .string()
      .regex(/^[a-z0-9]+([.-][a-z0-9]+)*$/)
      .max(128),
    connectorId: z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/),
    endpoint: z.string().max(2048),
    mode: z.enum(['modern', 'legacy', 'http']),
    allowedHosts: z.array(host).min(1).max(16),
    privateNetwork: z.boolean(),
    injection: injectionSchema,
    limits: limitsSchema,
    connectorVersions: z.strictObject({ from: z.string(), before: z.string().nullable() }),
    contractVersion: z.literal(1),
    capabilities: z.array(z.enum(['tools'])).min(1),
    authorization: z.enum(['none', 'api_key', 'oauth2']),
    risk: z.strictObject({ otherwise: risk, tools: z.record(z.string().max(128), risk) }),
  })
  .superRefine((binding, context) => {
    const reason = endpointRefused(binding);
    if (reason !== undefined) context.addIssue({ code: 'custom', message: reason, path: ['endpoint'] });
    if (binding.authorization === 'none' && binding.injection.kind !== 'none')
      context.addIssue({
        code: 'custom',
        message: 'there is no credential to inject where nothing is authorized',
        path: ['injection'],
      });
  });

export type Binding = z.output<typeof bindingSchema>;

export interface PublishedBinding {
  readonly revision: number;
  readonly contractHash: string;
  readonly binding: Binding;
}

function endpointRefused(binding: {
  endpoint: string;
  allowedHosts: string[];
  privateNetwork: boolean;
}): string | undefined {
  if (!URL.canParse(binding.endpoint)) return 'the endpoint is no URL';
  const url = new URL(binding.endpoint);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return 'the endpoint holds a user or a fragment';
  const plain = url.protocol === 'http:' && binding.privateNetwork;
  if (url.protocol !== 'https:' && !plain) return 'the endpoint is not https (http only in a private network)';
  return binding.allowedHosts.includes(url.host) ? undefined : `${url.host} is not among the allowed hosts`;
}

/**
 * Hash over what a release is checked against: what the client half may rely on, in fixed order. Where the upstream lives and how
 * a credential reaches it are left out, so that moving it needs no new release.
 */
export const contractHash = (binding: Binding): string => {
  const { ref, contractVersion, connectorId, authorization, connectorVersions } = binding;
  const { from, before } = connectorVersions;
  const contract = [ref, contractVersion, connectorId, authorization, [...binding.capabilities].sort(), from, before];
  return `sha256:${createHash('sha256').update(JSON.stringify(contract)).digest('hex')}`;
};

/** Whether a release of this version may run over the binding. A version that can't be read may not. */
export const accepts = ({ binding }: PublishedBinding, version: string): boolean =>
  versionWithin(version, binding.connectorVersions);

/** Writes a draft and publishes it, unless the newest published snapshot says the same. Answers the revision in force. */
export const publishBinding = async (tx: Tx, edge: Edge, binding: Binding): Promise<number> => {
  const current = await currentBinding(tx, binding.connectorId);
  const content = JSON.stringify(binding);
  if (current !== undefined && JSON.stringify(current.binding) === content) return current.revision;
  const revision = await nextRevision(tx, binding.ref);
  const hash = contractHash(binding);
  const draft = { ref: binding.ref, revision, connector_id: binding.connectorId, content, contract_hash: hash };
  await tx
    .insertInto('bindings')
    .values({ ...draft, status: 'draft', created_at: edge.now(), published_at: null })
    .execute();
  const publish = tx.updateTable('bindings').set({ status: 'published', published_at: edge.now() });
  await publish.where('ref', '=', binding.ref).where('revision', '=', revision).execute();
  return revision;
};

const nextRevision = async (tx: Tx, ref: string): Promise<number> => {
  const found = tx
    .selectFrom('bindings')
    .select((eb) => eb.fn.max('revision').as('last'))
    .where('ref', '=', ref);
  return ((await found.executeTakeFirst())?.last ?? 0) + 1;
};

/** The binding in force for a connector. Throws when the store holds one that this release can't read: then nothing is served. */
export const currentBinding = async (tx: Tx, connector: string): Promise<PublishedBinding | undefined> => {
  const row = await tx
    .selectFrom('bindings')
    .select(['revision', 'content', 'contract_hash'])
    .where('connector_id', '=', connector)
    .where('status', '=', 'published')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && readBinding(row);
};

export const readBinding = (row: { revision: number; content: string; contract_hash: string }): PublishedBinding => ({
  revision: row.revision,
  contractHash: row.contract_hash,
  binding: bindingSchema.parse(JSON.parse(row.content)),
});
