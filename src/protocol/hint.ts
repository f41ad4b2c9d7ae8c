/**
 * The hint channel: frames of the account's WebSocket, read and written. A hint says "look again" and carries no truth.
 *
 * What cannot be read is told as `ignored` and never throws: a hint that is lost costs one poll, a listener that dies costs all of
 * them. Source: facts of the client 1.5, threat C37.
 */
import { BadJson, isObject, type Json, member, parseJson, rawAt, rawMember } from './json.ts';
import { limits } from './limits.ts';
import { isConnectorId, readUint64 } from './snapshot.ts';

export const hintProtocolVersion = 2;
export const hintEventType = 'connector.authorization.changed';
export const readyEventType = 'connection.ready';
/** How often a client says it is alive, in frames of the protocol; the socket's own ping has a deadline beside it. */
export const hintHeartbeatMs = 180_000;

export type HintFrame =
  | {
      readonly kind: 'hint';
      readonly revision: string | null;
      readonly connector: string | null;
      readonly account: string | null;
      readonly dispatchId: string | null;
    }
  | { readonly kind: 'ready'; readonly connectionGeneration: string | null }
  | { readonly kind: 'ignored'; readonly reason: string };

const ignored = (reason: string): HintFrame => ({ kind: 'ignored', reason });

/** Reads one frame from the server. A hint whose revision cannot be read is still a hint. */
export function readHintFrame(frame: Uint8Array | string): HintFrame {
  const json = tryParse(frame);
  if (json === undefined || !isObject(json.value)) return ignored('not a JSON object');
  const type = member(json.value, 'event_type') ?? member(json.value, 'type');
  if (type !== hintEventType && type !== readyEventType) return ignored('another event');
  const payload = readPayload(json);
  if (payload === undefined) return ignored('unreadable payload');
  if (type === readyEventType)
    return { kind: 'ready', connectionGeneration: readUint64(rawMember(payload.text, 'connectionGeneration')) ?? null };
  const connector = isObject(payload.value) ? member(payload.value, 'connectorId') : undefined;
  const revision = readUint64(rawMember(payload.text, 'revision'));
  return {
    kind: 'hint',
    revision: revision === undefined || revision === '0' ? null : revision,
    connector: isConnectorId(connector) ? connector : null,
    account: textAt(json.value, 'delivery', 'user_id'),
    dispatchId: textAt(json.value, 'dispatch_id'),
  };
}

function tryParse(source: Uint8Array | string): Json | undefined {
  try {
    return parseJson(source, { maxBytes: limits.hintFrameBytes, duplicates: 'refuse' });
  } catch (error) {
    if (error instanceof BadJson) return undefined;
    throw error;
  }
}

/** The payload as an object, or as Base64 of its JSON text. */
function readPayload(frame: Json): Json | undefined {
  const payload = isObject(frame.value) ? member(frame.value, 'payload') : undefined;
  if (isObject(payload)) return { text: rawAt(frame.text, ['payload']) ?? '{}', value: payload };
  if (typeof payload !== 'string') return undefined;
  const decoded = tryParse(Buffer.from(payload, 'base64'));
  return isObject(decoded?.value) ? decoded : undefined;
}

function textAt(value: unknown, ...path: readonly string[]): string | null {
  let current = value;
  for (const name of path) current = isObject(current) ? member(current, name) : undefined;
  return typeof current === 'string' && current !== '' && current.length <= 191 ? current : null;
}

/** The frames a client sends first, in this order. */
export function hintGreeting(deviceId: string): readonly [initialize: string, init: string] {
  return [
    JSON.stringify({ action: 'connection.initialize', data: { protocolVersion: hintProtocolVersion } }),
    JSON.stringify({ action: 'init', data: { deviceId } }),
  ];
}

export function hintPing(nowMs: number): string {
  return JSON.stringify({ action: 'ping', data: { ts: nowMs } });
}

/** The address of the channel for a device. Throws a TypeError when the base is no URL. */
export function hintUrl(base: string, deviceId: string): string {
  const url = new URL(base);
  url.searchParams.set('deviceId', deviceId);
  return url.href;
}

export type ClientFrame =
  | { readonly action: 'connection.initialize'; readonly protocolVersion: number }
  | { readonly action: 'init'; readonly deviceId: string }
  | { readonly action: 'ping'; readonly ts: number };

/** Reads one frame from a client (server side); undefined for what is none of the three. */
export function readClientFrame(frame: Uint8Array | string): ClientFrame | undefined {
  const value = tryParse(frame)?.value;
  if (!isObject(value)) return undefined;
  const data = member(value, 'data');
  const read = (name: string): unknown => (isObject(data) ? member(data, name) : undefined);
  const [action, version, deviceId, ts] = [
    member(value, 'action'),
    read('protocolVersion'),
    read('deviceId'),
    read('ts'),
  ];
  if (action === 'connection.initialize' && typeof version === 'number') return { action, protocolVersion: version };
  if (action === 'init' && typeof deviceId === 'string') return { action, deviceId };
  return action === 'ping' && typeof ts === 'number' ? { action, ts } : undefined;
}

/** The first frame from a server. */
export function readyFrame(connectionGeneration: string): string {
  return JSON.stringify({
    protocol_version: hintProtocolVersion,
    event_type: readyEventType,
    payload: { connectionGeneration },
  });
}

/** A hint (server side). */
export function hintFrame(hint: {
  readonly revision: string;
  readonly connector: string | null;
  readonly account: string;
  readonly deviceId: string;
  readonly dispatchId: string;
}): string {
  const { revision, connector, account, deviceId, dispatchId } = hint;
  return JSON.stringify({
    protocol_version: hintProtocolVersion,
    event_type: hintEventType,
    dispatch_id: dispatchId,
    payload: { revision, ...(connector === null ? {} : { connectorId: connector }) },
    delivery: { scope: 'user', user_id: account, device_id: deviceId },
  });
}
