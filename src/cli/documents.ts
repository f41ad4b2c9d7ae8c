/**
 * The shape of every document that `--json` prints, as zod; `schemas/` is written from here and tests hold real output against it.
 *
 * Within one schemaVersion keys are only added, so a document may have more keys than its schema names. Every uint64 is decimal text.
 */
import { z } from 'zod';
import { reasons } from '../reconcile/index.ts';
import { SCHEMA_VERSION } from './output.ts';

const uint64 = z.string().regex(/^(0|[1-9]\d{0,19})$/);
const position = z.number().int().nonnegative();
const instant = z.number().int().nonnegative().describe('milliseconds since the epoch');
const account = z.string().nullable().describe('null: a route that no account decides');
const state = z.enum(['published', 'opening', 'withheld', 'faulted', 'closing']);
const reason = z.enum(reasons as [string, ...string[]]).nullable();
const url = z.string().describe('an http address on loopback');
const pid = z.number().int().positive();

const document = <Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject =>
  z.looseObject({ schemaVersion: z.literal(SCHEMA_VERSION), ...shape });

const route = z.looseObject({
  connector: z.string(),
  account,
  state,
  reason,
  stamp: z.looseObject({ revision: uint64, connectionVersion: uint64 }).nullable(),
  tools: z.number().int().nonnegative().nullable(),
  attempts: z.number().int().nonnegative().optional().describe('that failed, in a row'),
  nextAttemptAt: instant.nullable(),
});
const anomaly = z.looseObject({
  type: z.string(),
  account,
  connector: z.string().nullable(),
  count: z.number().int().positive(),
  lastPosition: position,
});
const link = z.looseObject({ position, at: instant, type: z.string(), text: z.string() });

const hash = z.string();
const difference = z.looseObject({
  position,
  agreedUpTo: position.describe('the last state hash before it that agrees'),
  recorded: hash,
  computed: hash,
  rules: z.string().describe('the rules that wrote the log there'),
  binding: z.boolean().describe("whether today's rules wrote it, so that it must not differ"),
});
const firstDifference = z.looseObject({
  position,
  text: z.string(),
  agreedUpTo: position.optional(),
  recorded: hash.nullable().optional().describe('null: an outcome told, and no state hash'),
  computed: hash.nullable().optional(),
  rules: z.string().optional(),
  binding: z.boolean().optional(),
  kind: z.enum(['event', 'state', 'end']).optional().describe('of two logs'),
});
const standing = {
  account: z
    .looseObject({
      id: z.string(),
      epoch: position,
      revision: uint64.nullable(),
      synced: z.boolean(),
      ageMs: z.number().nonnegative().nullable(),
      failed: z
        .looseObject({ reason: z.string(), position, at: instant, nextAttemptAt: instant })
        .nullable()
        .optional()
        .describe('the last read of this login, where it failed'),
    })
    .nullable(),
  routes: z.array(route),
  wanted: z.looseObject({}).nullable(),
  due: z.array(z.string()),
  anomalies: z.array(anomaly),
};

/** Name of the file in `schemas/` → what it describes. */
export const documents: Readonly<Record<string, z.ZodObject>> = {
  'ready-up': document({
    ready: z.literal(true),
    mcpUrl: url,
    mcpToken: z.string(),
    gatewayUrl: url,
    authorityUrl: url,
    adminUrl: url,
    adminToken: z.string(),
    viewerUrl: url.nullable(),
    stateDir: z.string(),
    pids: z.looseObject({ authority: pid, gateway: pid, daemon: pid }),
  }),
  status: document({ ...standing, position, stateHash: z.string().describe('what a replay of the log comes to') }),
  replay: document({
    events: position,
    position,
    stateHash: z.string(),
    rules: z.string(),
    ...standing,
    marks: z.number().int().nonnegative().describe('state hashes that were compared'),
    divergence: difference.nullable(),
    differences: z.array(difference).describe('of other rules: they may differ'),
  }),
  diff: document({
    events: position.describe('read until there was no more to tell'),
    marks: position.optional(),
    rules: z.string().optional().describe("today's"),
    blindFrom: position.nullable().optional().describe('the first row that can not be read'),
    firstDifference: firstDifference.nullable(),
  }),
  simulate: document({
    seed: position,
    runs: position,
    violations: z.array(z.looseObject({ seed: position, law: z.string(), position, text: z.string() })),
    nonConverged: position,
    unmet: z.array(z.string()).describe('classes of fault that so many runs should have met'),
    events: position,
    faults: z.record(z.string(), position).describe('class of fault: how often it happened'),
    places: z.record(z.string(), position).describe('where the worlds have been: how often'),
    cpuSeconds: z.number().nonnegative(),
  }),
  fuzz: document({
    seed: position.describe('the first one'),
    runs: position,
    violations: z.array(z.looseObject({ seed: position, law: z.string(), position, text: z.string() })),
    nonConverged: position,
    kept: z.string().nullable().describe('file with the log of the first world that broke a law'),
    events: position,
    faults: z.record(z.string(), position).describe('class of fault: how often it happened'),
    places: z.record(z.string(), position).describe('where the worlds have been: how often'),
    cpuSeconds: z.number().nonnegative(),
  }),
  prove: document({
    states: position,
    edges: position,
    depth: position.describe('of the deepest world'),
    unsafe: position.describe('states and moves that broke a law'),
    stuck: position.describe('states from which a calm world never converges'),
    complete: z.boolean().describe('every world was explored to its last state'),
    worlds: z.array(z.looseObject({ name: z.string(), states: position, edges: position, complete: z.boolean() })),
    counterExamples: z.array(
      z.looseObject({ world: z.string(), law: z.string(), text: z.string(), transcript: z.string(), test: z.string() }),
    ),
    cpuSeconds: z.number().nonnegative(),
    rssMiB: position,
  }),
  why: document({
    connector: z.string(),
    account,
    state,
    reason,
    text: z.string(),
    chain: z.array(link),
    wouldChange: z.string(),
  }),
  account: document({ account: z.string().nullable(), epoch: position.nullable() }),
  connect: document({
    connector: z.string(),
    outcome: z.enum(['succeeded', 'failed', 'canceled', 'expired']),
    reason: z.string().nullable(),
    state: state.nullable(),
  }),
  disconnect: document({ connector: z.string(), state: z.literal('disconnected') }),
  tools: document({
    tools: z.array(z.looseObject({ name: z.string() })).describe('as an agent gets them'),
    missing: z.array(z.looseObject({ connector: z.string(), code: z.number().int(), reason: z.string() })),
    excluded: z.array(z.looseObject({ connector: z.string(), tool: z.string().nullable(), reason: z.string() })),
  }),
  call: document({
    tool: z.string(),
    isError: z.boolean().optional(),
    result: z.looseObject({}).optional().describe('as the upstream gave it'),
    error: z.looseObject({ code: z.number().int(), message: z.string() }).optional(),
  }),
  'log-event': z.looseObject({
    position: position.min(1),
    id: z.string(),
    at: instant,
    cause: position.nullable(),
    type: z.string(),
    schema: z.number().int().positive(),
    rules: z.string(),
    data: z.looseObject({}),
  }),
  'log-export': document({ file: z.string(), head: position, redacted: z.boolean() }),
  'log-compact': document({
    head: position,
    stateHash: z.string().describe('before and after'),
    segments: position.describe('that were packed now'),
    bytesBefore: position.describe('of the file and its WAL'),
    bytesAfter: position,
    settled: z.boolean().describe('false: another program reads, and the file gets smaller once it is done'),
  }),
  'log-verify': document({
    events: position,
    head: position,
    batches: position,
    link: z.string(),
    broken: z.looseObject({ position, reason: z.string() }).nullable(),
  }),
  paths: document({ config: z.string(), state: z.string(), controlSocket: z.string(), log: z.string() }),
  doctor: document({ checks: z.array(z.looseObject({ name: z.string(), ok: z.boolean(), text: z.string() })) }),
  demo: document({ changed: z.enum(['business', 'proxy']) }),
  'demo-change': document({
    kind: z.enum(['rotate', 'revoke', 'expire']),
    account: z.string(),
    connector: z.string(),
    changed: z.boolean(),
    state: z.enum(['connected', 'disconnected', 'reauth_required']),
    revision: uint64,
  }),
};

/** The JSON Schema of a document. */
export function documentSchema(name: string): Readonly<Record<string, unknown>> {
  const schema = documents[name];
  if (schema === undefined) throw new RangeError(`no document is called ${name}`);
  return { ...z.toJSONSchema(schema), title: `dacapo: ${name}` };
}
