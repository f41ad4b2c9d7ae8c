/**
 * MCP 2026-07-28 in constants and small rules: versions, methods, the `_meta` envelope that makes every request describe itself.
 *
 * Nothing is negotiated and nothing is remembered between requests, so the envelope is checked on each. Source: the specification
 * (facts 1.1, 1.2, 1.7, 1.8) and seed 1 "MCP request metadata".
 */
import { isObject, type JsonObject, member, rawMembers, rawObject } from './json.ts';

export const modernVersion = '2026-07-28';
/** The eras that begin with `initialize`, newest first. */
export const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18'];

/** The version an `initialize` is answered with: the one asked for when we speak it, else our newest of that era. */
export function negotiateLegacy(requested: unknown): string {
  return legacyVersions.find((version) => version === requested) ?? '2025-11-25';
}

export const methods = {
  discover: 'server/discover',
  list: 'tools/list',
  call: 'tools/call',
  listen: 'subscriptions/listen',
  initialize: 'initialize',
  initialized: 'notifications/initialized',
  ping: 'ping',
  progress: 'notifications/progress',
  cancelled: 'notifications/cancelled',
  toolsChanged: 'notifications/tools/list_changed',
  acknowledged: 'notifications/subscriptions/acknowledged',
} as const;

/** All that the gateway's first door answers; the local server adds `subscriptions/listen`. Seed 1 "public gateway endpoint". */
export const doorMethods: ReadonlySet<string> = new Set([methods.discover, methods.list, methods.call]);
export const localMethods: ReadonlySet<string> = new Set([...doorMethods, methods.listen]);
export const legacyMethods: ReadonlySet<string> = new Set([
  methods.initialize,
  methods.ping,
  methods.list,
  methods.call,
]);

const reserved = 'io.modelcontextprotocol/';
export const metaKeys = {
  protocolVersion: `${reserved}protocolVersion`,
  clientInfo: `${reserved}clientInfo`,
  clientCapabilities: `${reserved}clientCapabilities`,
  logLevel: `${reserved}logLevel`,
  serverInfo: `${reserved}serverInfo`,
  subscriptionId: `${reserved}subscriptionId`,
  connectorVersion: 'sh.tutti/connectorVersion',
  progressToken: 'progressToken',
} as const;

export interface Implementation {
  readonly name: string;
  readonly version: string;
}

export type ProgressToken = string | number;

/** The body value that `Mcp-Name` repeats for a method; undefined for methods without one and for bodies that lack it. */
export function namedBy(method: string, params: JsonObject): string | undefined {
  const key =
    method === methods.call || method === 'prompts/get' ? 'name' : method === 'resources/read' ? 'uri' : undefined;
  const value = key === undefined ? undefined : member(params, key);
  return typeof value === 'string' ? value : undefined;
}

/** A `_meta` key whose prefix belongs to the protocol: its second label is `modelcontextprotocol` or `mcp`. */
export function isReservedKey(key: string): boolean {
  return RESERVED.test(key);
}

const RESERVED = /^[^.]*\.(?:modelcontextprotocol|mcp)(?:\..*)?\/[^/]*$/s;

export interface EnvelopeOptions {
  readonly progressToken?: ProgressToken | undefined;
  /** Another caller's `_meta`, as text. Its reserved keys, its token and our own namespace are not carried on. */
  readonly carriedText?: string | undefined;
}

/**
 * What one sender says of itself in every `_meta`, as JSON text, made once. Capabilities are empty: nothing that asks back is spoken.
 * `connectorVersion`: null where the peer pins none (any other modern server).
 */
export function selfText({ name, version }: Implementation, connectorVersion: string | null): string {
  return rawObject([
    [metaKeys.protocolVersion, JSON.stringify(modernVersion)],
    [metaKeys.clientInfo, JSON.stringify({ name, version })],
    [metaKeys.clientCapabilities, '{}'],
    [metaKeys.connectorVersion, connectorVersion === null ? undefined : JSON.stringify(connectorVersion)],
  ]);
}

/** The `_meta` of one request as JSON text: what is carried, the sender's {@link selfText}, and the token of this request. */
export function envelopeText(self: string, { carriedText, progressToken }: EnvelopeOptions = {}): string {
  if (carriedText === undefined && progressToken === undefined) return self;
  const carried = rawMembers(carriedText ?? '').filter(({ name }) => isCarried(name));
  const before = carried.map(({ name, raw }) => `${JSON.stringify(name)}:${raw},`).join('');
  const after = progressToken === undefined ? '' : `,"${metaKeys.progressToken}":${JSON.stringify(progressToken)}`;
  return `{${before}${self.slice(1, -1)}${after}}`;
}

/** Whether a key of an agent's `_meta` goes on to the next hop: not the protocol's own, not ours, not its token. */
export const isCarried = (key: string): boolean =>
  key !== metaKeys.progressToken && !key.startsWith('sh.tutti/') && !isReservedKey(key);

/** What a checked envelope said. */
export interface Envelope {
  readonly protocolVersion: string;
  readonly clientInfo: Implementation | undefined;
  readonly connectorVersion: string | undefined;
  readonly progressToken: ProgressToken | undefined;
}

/** The version that a request's `_meta` claims, if it claims one at all. */
export function claimedVersion(params: JsonObject | undefined): unknown {
  const meta = params === undefined ? undefined : member(params, '_meta');
  return isObject(meta) ? member(meta, metaKeys.protocolVersion) : undefined;
}

/** Reads the envelope of a request, or says what is missing, as text for -32602. */
export function readEnvelope(
  params: JsonObject | undefined,
  options: { readonly connector: boolean },
): Envelope | string {
  const meta = params === undefined ? undefined : member(params, '_meta');
  if (!isObject(meta)) return 'params._meta is missing';
  const read = (key: string): unknown => member(meta, key);
  const protocolVersion = read(metaKeys.protocolVersion);
  if (typeof protocolVersion !== 'string') return `params._meta needs ${metaKeys.protocolVersion}`;
  if (!isObject(read(metaKeys.clientCapabilities))) return `params._meta needs ${metaKeys.clientCapabilities}`;
  const clientInfo = read(metaKeys.clientInfo);
  if (clientInfo !== undefined && !isImplementation(clientInfo))
    return `${metaKeys.clientInfo} needs a name and a version`;
  const connectorVersion = read(metaKeys.connectorVersion);
  if (options.connector && typeof connectorVersion !== 'string')
    return `params._meta needs ${metaKeys.connectorVersion}`;
  const progressToken = read(metaKeys.progressToken);
  if (progressToken !== undefined && !isProgressToken(progressToken))
    return 'progressToken must be a text or an integer';
  return {
    protocolVersion,
    clientInfo,
    connectorVersion: typeof connectorVersion === 'string' ? connectorVersion : undefined,
    progressToken,
  };
}

export function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof member(value, 'name') === 'string' && typeof member(value, 'version') === 'string';
}

export function isProgressToken(value: unknown): value is ProgressToken {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
