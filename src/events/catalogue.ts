/**
 * events/ answers "what happened". This file is the catalogue: every event that can be learned, past tense, dotted, with its
 * shape as a zod schema and its type inferred from it. DESIGN 5.1.
 *
 * Imports nothing but zod. No event has a field for a cookie, token, secret, endpoint or tool argument, so that a log can be
 * handed to somebody else (law L16). Schemas are strict: a field that is not in the catalogue is refused, never kept.
 */
import { z } from 'zod';
import { parseUint64, type Uint64 } from './uint64.ts';

const uint64Schema = z.unknown().transform((value, context): Uint64 => {
  const parsed = parseUint64(value);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: 'expected an unsigned 64-bit integer as decimal text' });
  return z.NEVER;
});

/** Free text from outside is cut where it enters: an event is evidence, not storage. */
const text = (max: number): z.ZodString => z.string().max(max);
const name = z.string().min(1).max(191);
/** A connector's id never holds a slash, so that `account/connector` is one key and no other. Source: the release contract. */
const connectorId = z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/);
const position = z.number().int().nonnegative();
const epoch = z.number().int().positive();
const delayMs = z.number().int().nonnegative().max(3_600_000);

export const kindSchema = z.enum(['remote', 'stdio', 'builtin']);
export const authorizationKindSchema = z.enum(['none', 'api_key', 'oauth2']);
export const authorizationSchema = z.enum(['connected', 'disconnected', 'reauth_required']);
export const rejectionCodeSchema = z.union([z.literal(428), z.literal(-33001), z.literal(-33002)]);

const release = z.strictObject({ version: text(64).min(1), digest: text(128).min(1) });
const stamp = z.strictObject({ line: z.number().int().nonnegative(), revision: uint64Schema });

/** One connector's line of a snapshot, or the word that its line could not be read (decided at the edge). */
const entry = z.union([
  z.literal('unreadable'),
  z.strictObject({
    state: authorizationSchema,
    connectionVersion: uint64Schema,
    connectionIdHash: text(64).nullable(),
    releaseVersion: text(64).nullable(),
  }),
]);

const routeOutcome = { account: name.nullable(), connector: connectorId, generation: text(256), epoch };

/** Type → schema of what the event carries. The order of the keys is the order of the table in DESIGN 5.1. */
export const catalogue = {
  'engine.started': z.strictObject({ boot: name, package: text(64), rules: text(32) }),
  'account.activated': z.strictObject({ account: name, epoch }),
  'account.cleared': z.strictObject({ epoch }),
  'connector.installed': z.strictObject({
    connector: connectorId,
    release,
    kind: kindSchema,
    authorization: authorizationKindSchema,
    enabled: z.boolean(),
    /** `null` when this host can run the release, else why not. */
    incompatible: text(256).nullable(),
  }),
  'connector.removed': z.strictObject({ connector: connectorId }),
  'connector.toggled': z.strictObject({ connector: connectorId, enabled: z.boolean() }),
  'install.failed': z.strictObject({
    connector: connectorId,
    release: release.nullable(),
    stage: text(64),
    reason: text(256),
  }),
  'snapshot.received': z.strictObject({
    account: name,
    epoch,
    startedAt: position,
    serverEpoch: uint64Schema.nullable(),
    revision: uint64Schema,
    complete: z.boolean(),
    entries: z.record(connectorId, entry),
  }),
  'snapshot.failed': z.strictObject({ account: name, epoch, reason: text(256), retryAfterMs: delayMs.nullable() }),
  'hint.received': z.strictObject({
    account: name,
    revision: uint64Schema.nullable(),
    connector: connectorId.nullable(),
    incarnation: text(64),
    count: z.number().int().positive(),
  }),
  'hints.opened': z.strictObject({ incarnation: text(64) }),
  'hints.lost': z.strictObject({ incarnation: text(64), reason: text(256) }),
  'call.rejected': z.strictObject({
    account: name,
    epoch,
    connector: connectorId,
    generation: text(256),
    stamp: stamp.nullable(),
    code: rejectionCodeSchema,
  }),
  'connection.dropping': z.strictObject({ account: name, epoch, connector: connectorId }),
  'connection.dropped': z.strictObject({
    account: name,
    epoch,
    connector: connectorId,
    revision: uint64Schema.nullable(),
  }),
  'connection.dropFailed': z.strictObject({ account: name, epoch, connector: connectorId, reason: text(256) }),
  'authorization.ended': z.strictObject({
    account: name,
    epoch,
    connector: connectorId,
    outcome: z.enum(['succeeded', 'failed', 'canceled', 'expired']),
    connectionIdHash: text(64).nullable(),
    reason: text(256).nullable(),
  }),
  'clock.ticked': z.strictObject({ reason: z.enum(['poll', 'wake']) }),
  'route.opened': z.strictObject({
    ...routeOutcome,
    tools: z.strictObject({ count: z.number().int().nonnegative(), digest: text(128) }),
  }),
  'route.openFailed': z.strictObject({
    ...routeOutcome,
    /** `rejected` is the authorization's answer (law L5); `contract` needs a new release; the rest may be tried again. */
    reason: z.enum(['rejected', 'contract', 'unavailable', 'timeout', 'limited', 'protocol', 'exited', 'aborted']),
    detail: text(256).nullable(),
    code: rejectionCodeSchema.nullable(),
    stamp: stamp.nullable(),
    retryAfterMs: delayMs.nullable(),
  }),
  'route.closed': z.strictObject({ ...routeOutcome, reason: text(256) }),
  'route.exited': z.strictObject({ ...routeOutcome, reason: text(256) }),
  'server.reset': z.strictObject({ account: name, acceptedBy: text(191) }),
} as const;

export type EventType = keyof typeof catalogue;
export const eventTypes: readonly EventType[] = Object.keys(catalogue) as EventType[];

/** What an event of a type carries. */
export type Payload<T extends EventType> = z.output<(typeof catalogue)[T]>;

/** A thing learned, not yet recorded: a type and what it carries. */
export type Fact = { readonly [T in EventType]: { readonly type: T; readonly data: Payload<T> } }[EventType];
export type FactOf<T extends EventType> = Extract<Fact, { type: T }>;

/**
 * A fact as the edge hands it in. `id` makes a repeated append harmless, `at` is ms since epoch read once at the edge, `cause`
 * is the position of the event whose effect this answers.
 */
export type NewEvent = Fact & { readonly id: string; readonly at: number; readonly cause: number | null };

/** As recorded: `position` is gap-free from 1, `schema` the version of the payload, `rules` the rule tables that decided it. */
export type LoggedEvent = NewEvent & { readonly position: number; readonly schema: number; readonly rules: string };
export type LoggedEventOf<T extends EventType> = Extract<LoggedEvent, { type: T }>;

/**
 * A row that is kept and shown, never understood: of a newer version, or with its payload redacted (`data` is then empty). Its
 * connector, where it names one, is withheld. `unknown` tells it from a {@link LoggedEvent}, which may bear the same type.
 */
export interface UnknownEvent {
  readonly unknown: 'newer' | 'redacted';
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly id: string;
  readonly at: number;
  readonly cause: number | null;
  readonly position: number;
  readonly schema: number;
  readonly rules: string;
}

/** Version of every payload schema above. Raised only together with an upcaster. */
export const SCHEMA = 1;
/** Version of the rule tables (stamp table, machines). A state hash binds only under the rules that wrote it. DESIGN 5.6. */
export const RULES = '1';
