/**
 * Authorization sessions: how a person connects an account to a connector, as requests and replies.
 *
 * A reply must echo what was asked (session and release), because a reply of another session would connect the wrong thing. A
 * session that succeeds grants nothing here: it asks for a snapshot. Source: facts of the client 1.4.
 */
import { BadJson, isObject, type JsonObject, member, parseJson } from './json.ts';
import type { HeaderFields } from './fields.ts';
import { parseRetryAfter } from './errors.ts';
import { limits } from './limits.ts';
import { isConnectorId } from './snapshot.ts';

/** One request of the control plane: a path below its base, and a JSON body where there is one. */
export interface ControlRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
}

export const snapshotPath = '/v1/connector-authorizations/snapshot';
const replaceActive = 'CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE';
const statusPrefix = 'CONNECTOR_AUTHORIZATION_SESSION_STATUS_';

export function snapshotRequest(): ControlRequest {
  return { method: 'GET', path: snapshotPath };
}

/** The MCP endpoint of a connector below a base. Throws a RangeError for what is no connector id: nothing else may reach a path. */
export function connectorPath(connector: string, rest: 'mcp' | 'authorization' | 'authorization-sessions'): string {
  if (!isConnectorId(connector)) throw new RangeError('not a connector id');
  return `/v1/connectors/${connector}/${rest}`;
}

export interface StartSession {
  readonly connector: string;
  readonly clientRequestId: string;
  readonly connectorVersion: string;
  readonly replace?: boolean;
}

export function startSessionRequest({
  connector,
  clientRequestId,
  connectorVersion,
  replace,
}: StartSession): ControlRequest {
  const body = { clientRequestId, connectorVersion, ...(replace === true ? { replacementPolicy: replaceActive } : {}) };
  return { method: 'POST', path: connectorPath(connector, 'authorization-sessions'), body: JSON.stringify(body) };
}

const sessionPath = (sessionId: string): string =>
  `/v1/connector-authorization-sessions/${encodeURIComponent(sessionId)}`;

/** The only request with a secret in it. Throws a RangeError for one that no server takes. */
export function completeSessionRequest(sessionId: string, secret: string): ControlRequest {
  const bytes = Buffer.byteLength(secret);
  if (bytes < 1 || bytes > limits.secretBytes) throw new RangeError(`a secret has 1 to ${limits.secretBytes} bytes`);
  return { method: 'POST', path: `${sessionPath(sessionId)}/complete`, body: JSON.stringify({ secret: { secret } }) };
}

export function observeSessionRequest(sessionId: string): ControlRequest {
  return { method: 'GET', path: sessionPath(sessionId) };
}

export function cancelSessionRequest(sessionId: string): ControlRequest {
  return { method: 'DELETE', path: sessionPath(sessionId) };
}

/** Addressed by connector: the client never holds a connection id. */
export function disconnectRequest(connector: string): ControlRequest {
  return { method: 'DELETE', path: connectorPath(connector, 'authorization') };
}

export type SessionStatus = 'CREATED' | 'AWAITING_USER' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED';
const statuses: ReadonlySet<string> = new Set([
  'CREATED',
  'AWAITING_USER',
  'PROCESSING',
  'SUCCEEDED',
  'FAILED',
  'CANCELED',
]);

export type NextAction = { readonly type: 'redirect'; readonly url: string } | { readonly type: 'submit_secret' };

export interface Session {
  readonly sessionId: string;
  readonly connectorRevision: string;
  readonly status: SessionStatus;
  readonly resultConnectionId: string | null;
  readonly errorCode: string | null;
  readonly nextAction: NextAction | null;
}

/** A reply that is no session, or not the one asked for. */
export class BadSession extends Error {
  override readonly name = 'BadSession';
}

export interface SessionExpectations {
  readonly sessionId?: string;
  readonly connectorVersion?: string;
}

/** Reads a session reply. Throws {@link BadSession}. */
export function readSession(bytes: Uint8Array, expected: SessionExpectations): Session {
  const session = sessionObject(bytes);
  const text = (name: string): string | null => textOf(member(session, name));
  const [sessionId, connectorRevision] = [text('sessionId'), text('connectorRevision')];
  const status = text('status')?.replace(statusPrefix, '');
  if (sessionId === null || connectorRevision === null)
    throw new BadSession('the reply lacks sessionId or connectorRevision');
  if (status === undefined || !statuses.has(status)) throw new BadSession('the reply has an unknown status');
  if (expected.sessionId !== undefined && expected.sessionId !== sessionId)
    throw new BadSession('the reply is of another session');
  if (expected.connectorVersion !== undefined && expected.connectorVersion !== connectorRevision)
    throw new BadSession('the reply is of another release');
  const resultConnectionId = text('resultConnectionId');
  if (status === 'SUCCEEDED' && resultConnectionId === null)
    throw new BadSession('a session that succeeded names its connection');
  const nextAction = readNextAction(member(session, 'nextAction'));
  return {
    sessionId,
    connectorRevision,
    status: status as SessionStatus,
    resultConnectionId,
    errorCode: text('errorCode'),
    nextAction,
  };
}

function sessionObject(bytes: Uint8Array): JsonObject {
  const value = tryValue(bytes);
  const session = isObject(value) ? (member(value, 'session') ?? value) : undefined;
  if (!isObject(session)) throw new BadSession('the reply holds no session');
  return session;
}

function tryValue(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, { maxBytes: limits.errorBytes, duplicates: 'refuse' }).value;
  } catch (error) {
    if (error instanceof BadJson) return undefined;
    throw error;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** A redirect goes to https, with a host and no user info: it is handed to a browser. Threat C46. */
function readNextAction(value: unknown): NextAction | null {
  const action = isObject(value) ? value : {};
  const type = member(action, 'type');
  if (type === 'submit_secret') return { type };
  if (type !== 'redirect') return null;
  const url = textOf(member(action, 'url')) ?? '';
  if (!isBrowserUrl(url)) throw new BadSession('the redirect is not a plain https address');
  // As it was read, not as it was written: what a parser passes over, a terminal or a shell may not.
  return { type, url: new URL(url).href };
}

/** https, or http to this machine (a demo's authority); no user info. */
export function isBrowserUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hostname === '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** A host name that is this machine, as URL parsing leaves it. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The reply of a server. */
export function sessionText(session: Session): string {
  const { sessionId, connectorRevision, status, resultConnectionId, errorCode, nextAction } = session;
  return JSON.stringify({
    session: {
      sessionId,
      connectorRevision,
      status,
      resultConnectionId: resultConnectionId ?? '',
      errorCode: errorCode ?? '',
      ...(nextAction === null ? {} : { nextAction }),
    },
  });
}

export type SessionCommand =
  | {
      readonly kind: 'start';
      readonly clientRequestId: string;
      readonly connectorVersion: string;
      readonly replace: boolean;
    }
  | { readonly kind: 'complete'; readonly secret: string };

/** Reads the body of start and complete (server side). Throws {@link BadSession}; the message never repeats the body. */
export function readSessionCommand(kind: SessionCommand['kind'], bytes: Uint8Array): SessionCommand {
  const value = tryValue(bytes);
  if (!isObject(value)) throw new BadSession('the body is not a JSON object');
  if (kind === 'complete') return { kind, secret: readSecret(value) };
  const [clientRequestId, connectorVersion] = [
    textOf(member(value, 'clientRequestId')),
    textOf(member(value, 'connectorVersion')),
  ];
  if (clientRequestId === null || connectorVersion === null)
    throw new BadSession('clientRequestId and connectorVersion are needed');
  const policy = member(value, 'replacementPolicy');
  if (policy !== undefined && policy !== replaceActive) throw new BadSession('the replacement policy is unknown');
  return { kind, clientRequestId, connectorVersion, replace: policy === replaceActive };
}

function readSecret(value: JsonObject): string {
  const outer = member(value, 'secret');
  const secret = isObject(outer) ? textOf(member(outer, 'secret')) : null;
  if (secret === null || Buffer.byteLength(secret) > limits.secretBytes)
    throw new BadSession(`a secret has 1 to ${limits.secretBytes} bytes`);
  return secret;
}

/** A control plane's refusal, told apart by status; `code` is what its body said, if it said one. Weakness W31. */
export interface ControlFailure {
  readonly kind:
    'session' | 'forbidden' | 'conflict' | 'precondition' | 'limited' | 'unavailable' | 'refused' | 'redirect';
  readonly status: number;
  readonly code: string | null;
  readonly retryAfterMs: number | undefined;
}

export function readControlFailure(
  status: number,
  headers: HeaderFields,
  bytes: Uint8Array,
  nowMs: number,
): ControlFailure {
  const body = tryValue(bytes);
  const error = isObject(body) ? (member(body, 'error') ?? body) : undefined;
  const code = isObject(error) ? textOf(member(error, 'code')) : textOf(error);
  const kept = code !== null && /^[A-Za-z0-9_.-]{1,64}$/.test(code) ? code : null;
  return { kind: kindOf(status), status, code: kept, retryAfterMs: parseRetryAfter(headers['retry-after'], nowMs) };
}

function kindOf(status: number): ControlFailure['kind'] {
  if (status === 401) return 'session';
  if (status === 403) return 'forbidden';
  if (status === 409) return 'conflict';
  if (status === 428) return 'precondition';
  if (status === 429) return 'limited';
  if (status >= 300 && status < 400) return 'redirect';
  return status >= 500 ? 'unavailable' : 'refused';
}

/** A refusal as this project's authority answers it: a code for programs, a message for people. */
export function controlFailureText(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } });
}
