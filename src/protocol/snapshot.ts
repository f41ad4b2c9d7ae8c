/**
 * The authorization snapshot of an account: the body of `GET /v1/connector-authorizations/snapshot`, read and written.
 *
 * A body that cannot be trusted as a whole is refused as a whole and is never "no connectors". A line that cannot be read is told as
 * `unreadable`: withheld, while the others apply. Numbers are read from the text, because a float would round 2^53+1. Sources:
 * facts of the client 1.3, DESIGN 5.1 and 5.2, threat C38, faults D25 and D29.
 */
import { createHash } from 'node:crypto';
import {
  BadJson,
  isObject,
  type Json,
  type JsonObject,
  member,
  parseJson,
  rawAt,
  rawItems,
  rawMember,
} from './json.ts';
import { limits } from './limits.ts';

export type ConnectionState = 'connected' | 'disconnected' | 'reauth_required';

/** A readable line. `connectionVersion` is canonical decimal text; the connection's id is only kept as its hash. */
export interface SnapshotEntry {
  readonly state: ConnectionState;
  readonly connectionVersion: string;
  readonly connectionIdHash: string | null;
  readonly releaseVersion: string | null;
}

export interface Snapshot {
  /** The server's own line, where it tells one: rises when its store was restored. */
  readonly serverEpoch: string | null;
  readonly revision: string;
  /** Whether a connector that is absent is known to be disconnected. */
  readonly complete: boolean;
  readonly entries: ReadonlyMap<string, SnapshotEntry | 'unreadable'>;
  /** What was wrong with single lines, in words for a person; no content of theirs. */
  readonly anomalies: readonly string[];
}

export type BadSnapshotReason = 'json' | 'shape' | 'revision' | 'serverEpoch' | 'account' | 'size' | 'contentType';

/** A body that says nothing at all. */
export class BadSnapshot extends Error {
  override readonly name = 'BadSnapshot';
  readonly reason: BadSnapshotReason;
  constructor(reason: BadSnapshotReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const DIGITS = /^[0-9]{1,20}$/;

/** Canonical decimal text of a uint64 from its JSON text: digits, bare or quoted, up to 2^64−1. Else undefined. */
export function readUint64(raw: string | undefined): string | undefined {
  const digits = raw?.startsWith('"') === true ? raw.slice(1, -1) : raw;
  if (digits === undefined || !DIGITS.test(digits)) return undefined;
  const value = BigInt(digits);
  return value <= 0xffff_ffff_ffff_ffffn ? String(value) : undefined;
}

const CONNECTOR_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** An id that can stand in a path, in a log and as a key without being anything else there. Threat C6. */
export function isConnectorId(value: unknown): value is string {
  return typeof value === 'string' && CONNECTOR_ID.test(value);
}

/** Hex SHA-256 of a server's connection id: equal ids can be told, the id cannot be read back from a log. */
export function hashConnectionId(connectionId: string): string {
  return createHash('sha256').update('connection\0').update(connectionId).digest('hex');
}

export interface SnapshotExpectations {
  /** The account the request was made for: a body that names another one is refused. */
  readonly account: string;
}

/** Reads a snapshot's bytes. Throws {@link BadSnapshot}. */
export function readSnapshot(bytes: Uint8Array, expected: SnapshotExpectations): Snapshot {
  const json = parse(bytes);
  if (!isObject(json.value)) throw new BadSnapshot('shape', 'the snapshot is not an object');
  const body = json.value;
  const account = member(body, 'accountId');
  if (account !== undefined && account !== expected.account)
    throw new BadSnapshot('account', 'the snapshot is of another account');
  const revision = readUint64(rawMember(json.text, 'revision'));
  if (revision === undefined) throw new BadSnapshot('revision', 'the snapshot has no revision');
  const list = member(body, 'connectors');
  if (!Array.isArray(list)) throw new BadSnapshot('shape', 'the snapshot has no list of connectors');
  const serverEpoch = readServerEpoch(body, json.text);
  const { entries, anomalies, nameless } = readEntries(
    list as unknown[],
    rawItems(rawAt(json.text, ['connectors']) ?? '[]'),
  );
  return { serverEpoch, revision, complete: nameless === 0 && saysComplete(body, list.length), entries, anomalies };
}

function parse(bytes: Uint8Array): Json {
  try {
    return parseJson(bytes, { maxBytes: limits.snapshotBytes, duplicates: 'refuse' });
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    throw new BadSnapshot(error.reason === 'size' ? 'size' : 'json', error.message);
  }
}

function readServerEpoch(body: JsonObject, text: string): string | null {
  const value = member(body, 'serverEpoch') ?? null;
  if (value === null) return null;
  const read = readUint64(rawMember(text, 'serverEpoch'));
  if (read === undefined) throw new BadSnapshot('serverEpoch', 'the snapshot has a server epoch that is no number');
  return read;
}

/** True where nothing is said: the protocol's snapshot is the full state. A stated count must be the count. */
function saysComplete(body: JsonObject, length: number): boolean {
  const complete = member(body, 'complete') ?? true;
  const count = member(body, 'count') ?? length;
  return complete === true && count === length;
}

interface Entries {
  readonly entries: Map<string, SnapshotEntry | 'unreadable'>;
  readonly anomalies: string[];
  /** Lines that name no connector: then an absent connector may be one of these. */
  readonly nameless: number;
}

function readEntries(list: readonly unknown[], texts: readonly string[]): Entries {
  const entries = new Map<string, SnapshotEntry | 'unreadable'>();
  const anomalies: string[] = [];
  let nameless = 0;
  list.forEach((line, index) => {
    const id = isObject(line) ? member(line, 'connectorId') : undefined;
    if (!isObject(line) || !isConnectorId(id)) {
      nameless++;
      return void anomalies.push(`line ${index} names no connector`);
    }
    const entry = entries.has(id) ? 'is named twice' : readEntry(line, texts[index] ?? '{}');
    if (typeof entry === 'string') anomalies.push(`${id} ${entry}`);
    entries.set(id, typeof entry === 'string' ? 'unreadable' : entry);
  });
  return { entries, anomalies, nameless };
}

function readEntry(line: JsonObject, text: string): SnapshotEntry | string {
  const state = readState(member(line, 'state'));
  if (state === undefined) return 'has an unknown state';
  const connectionId = member(line, 'connectionId') ?? '';
  if (typeof connectionId !== 'string') return 'has a connection id that is no text';
  if (state === 'connected' && connectionId === '') return 'is connected without a connection id';
  const stated = member(line, 'connectionVersion') ?? null;
  const connectionVersion =
    stated === null && state !== 'connected' ? '0' : readUint64(rawMember(text, 'connectionVersion'));
  if (connectionVersion === undefined) return 'has no connection version';
  const version = member(line, 'connectorVersion') ?? '';
  if (typeof version !== 'string' || version.length > 64) return 'has a connector version that is no short text';
  return {
    state,
    connectionVersion,
    connectionIdHash: connectionId === '' ? null : hashConnectionId(connectionId),
    releaseVersion: version === '' ? null : version,
  };
}

function readState(value: unknown): ConnectionState | undefined {
  const state = typeof value === 'string' ? value.toLowerCase() : '';
  return state === 'connected' || state === 'disconnected' || state === 'reauth_required' ? state : undefined;
}

/** A line as a server tells it. */
export interface SnapshotLine {
  readonly connectorId: string;
  readonly connectorVersion: string;
  readonly state: ConnectionState;
  readonly connectionId: string;
  readonly connectionVersion: string;
}

/** The body of a snapshot (server side). uint64 values are written as text, so that no reader rounds them. */
export function snapshotText(snapshot: {
  readonly accountId: string;
  readonly revision: string;
  readonly serverEpoch: string | null;
  readonly connectors: readonly SnapshotLine[];
}): string {
  const { accountId, revision, serverEpoch, connectors } = snapshot;
  const lines = connectors.map(({ connectorId, connectorVersion, state, connectionId, connectionVersion }) => ({
    connectorId,
    connectorVersion,
    state,
    connectionId,
    connectionVersion,
  }));
  return JSON.stringify({
    accountId,
    revision,
    ...(serverEpoch === null ? {} : { serverEpoch }),
    complete: true,
    count: lines.length,
    connectors: lines,
  });
}
