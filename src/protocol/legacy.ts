/**
 * One request to a server of the `initialize` era, as if it were stateless: initialize, initialized, the request, and the session is
 * left to whoever closes it. Nothing of the session outlives the request, so no two callers ever share one.
 *
 * Sources: MCP 2025-11-25 and 2025-06-18, lifecycle and streamable HTTP; seed 1 "one-shot MCP request".
 */
import { type Deadlines, openDeadline } from './deadline.ts';
import { type Exchanged, exchange } from './exchange.ts';
import { headerField } from './fields.ts';
import { isObject, member } from './json.ts';
import { encodeNotification, encodeRequest, type Id, makeId, type Notification } from './jsonrpc.ts';
import { type Implementation, legacyVersions, methods } from './mcp.ts';
import type { Outgoing } from './outgoing.ts';
import type { Post } from './post.ts';
import type { Stop } from './stop.ts';

export interface LegacyRequest {
  readonly url: string;
  readonly method: string;
  readonly paramsText: string;
  readonly clientInfo: Implementation;
  /** For all of it together; each step has its own first byte and gap. */
  readonly deadlines: Deadlines;
  readonly stop: Stop;
  readonly nowMs: () => number;
  readonly onNotification?: (notification: Notification) => void;
}

export interface LegacyAnswer {
  readonly exchanged: Exchanged;
  /** The session that the server opened, to be deleted: with it and the version, or undefined when there is none. */
  readonly session: LegacySession | undefined;
}

export interface LegacySession {
  readonly id: string;
  readonly version: string;
}

/** Servers of this era that are older than what we ask for answer with their own version; these we can read. */
const READABLE: ReadonlySet<string> = new Set([...legacyVersions, '2025-03-26']);

const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** Sends one request. Never throws; what failed in the handshake is the answer, as if the request had failed so. */
export async function requestOnce(post: Post, request: LegacyRequest): Promise<LegacyAnswer> {
  const endMs = request.nowMs() + request.deadlines.totalMs;
  const step = { post, request, left: () => Math.max(0, endMs - request.nowMs()) };
  const opened = await openSession(step);
  if ('exchanged' in opened) return opened;
  const { session, headers } = opened;
  const refused = await announce(step, headers);
  if (refused !== undefined) return { exchanged: refused, session };
  const id = makeId(2);
  const body = encodeRequest(id, request.method, request.paramsText);
  const exchanged = await send(step, { id, method: request.method, headers, body }, request.onNotification);
  return { exchanged, session };
}

interface Step {
  readonly post: Post;
  readonly request: LegacyRequest;
  readonly left: () => number;
}

interface Opened {
  readonly session: LegacySession | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const standing = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'Accept-Encoding': 'identity',
} as const;

async function openSession(step: Step): Promise<Opened | LegacyAnswer> {
  const { clientInfo } = step.request;
  const params = { protocolVersion: legacyVersions[0], capabilities: {}, clientInfo };
  const id: Id = makeId(1);
  const body = encodeRequest(id, methods.initialize, JSON.stringify(params));
  const outgoing = { id, method: methods.initialize, headers: standing, body };
  const first = await send(step, outgoing, undefined);
  // An idle connection that the server had just closed: nothing has begun, so it is safe to begin again. Fault D44.
  const exchanged = first.kind === 'broken' && first.stale ? await send(step, outgoing, undefined) : first;
  if (exchanged.kind !== 'response' || exchanged.response.kind !== 'result') return { exchanged, session: undefined };
  const version = member(exchanged.response.result, 'protocolVersion');
  const sessionId = headerField(exchanged.headers, 'mcp-session-id');
  const readable = typeof version === 'string' && READABLE.has(version);
  const session = sessionId !== undefined && SESSION_ID.test(sessionId) ? { id: sessionId, version: readable ? version : legacyVersions[0] ?? '' } : undefined; // prettier-ignore
  if (!readable)
    return {
      exchanged: outside('the server speaks no version of the protocol that we read', exchanged.status),
      session,
    };
  if (!declaresTools(exchanged.response.result)) return { exchanged: outside('the server does not declare tools', exchanged.status), session }; // prettier-ignore
  const named = session === undefined ? {} : { 'Mcp-Session-Id': session.id };
  return { session, headers: { ...standing, 'MCP-Protocol-Version': version, ...named } };
}

const declaresTools = (result: Readonly<Record<string, unknown>>): boolean => {
  const capabilities = member(result, 'capabilities');
  return isObject(capabilities) && isObject(member(capabilities, 'tools'));
};

/** `notifications/initialized`, which is answered by a status alone. Undefined when it was taken. */
async function announce(step: Step, headers: Readonly<Record<string, string>>): Promise<Exchanged | undefined> {
  const deadline = openDeadline({ ...step.request.deadlines, totalMs: step.left() }, step.request.stop);
  const body = encodeNotification(methods.initialized);
  try {
    const reply = await step.post({ url: step.request.url, headers, body, stop: deadline });
    reply.destroy();
    if (reply.status >= 200 && reply.status < 300) return undefined;
    return { kind: 'status', status: reply.status, headers: reply.headers };
  } catch {
    const why = deadline.ended ?? 'unreachable';
    return { ...outside('no answer to the notification', undefined), why };
  } finally {
    deadline.close();
  }
}

function send(step: Step, outgoing: Outgoing, onNotification: LegacyRequest['onNotification']): Promise<Exchanged> {
  const deadline = openDeadline({ ...step.request.deadlines, totalMs: step.left() }, step.request.stop);
  return exchange(step.post, outgoing, { url: step.request.url, deadline, onNotification });
}

const outside = (detail: string, status: number | undefined) =>
  ({ kind: 'broken', why: 'protocol', detail, status, mayHaveRun: false, stale: false }) as const;
