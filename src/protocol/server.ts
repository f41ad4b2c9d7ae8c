/**
 * The server's side of one POST: from method, headers and bytes to a request that may be acted on, or to the exact answer that
 * refuses it. The same for the gateway's door and the local server. Nothing is remembered between two requests.
 *
 * A request is judged from the outside in, and the first thing wrong with it is what is told. Sources: MCP 2026-07-28 transports
 * and versioning (facts 1.2–1.5, 1.8), seed 1 "public gateway endpoint", threats C1, C2, C32, C44.
 */
import { accepted, answerError, type Era, type HttpAnswer } from './answer.ts';
import { McpError } from './errors.ts';
import { type HeaderFields, headerField } from './fields.ts';
import { checkHeaders, headerNames } from './headers.ts';
import { BadJson, type Json, type JsonObject, member, parseJson, rawMemberMap } from './json.ts';
import { BadMessage, type Id, type Message, type Notification, parseMessage, type Request } from './jsonrpc.ts';
import { limits } from './limits.ts';
import { claimedVersion, type Envelope, legacyVersions, modernVersion, readEnvelope } from './mcp.ts';
import { checkTransport, type Incoming } from './transport.ts';

export interface Door {
  /** The methods of the modern era; any other is answered 404. */
  readonly methods: ReadonlySet<string>;
  /** Whether requests pin a connector's version, in header and `_meta`. */
  readonly connector: boolean;
  /** The methods of the `initialize` era, where it is served. */
  readonly legacyMethods?: ReadonlySet<string>;
}

export type Checked =
  | {
      readonly kind: 'request';
      readonly era: 'modern';
      readonly request: Request;
      readonly params: JsonObject;
      readonly envelope: Envelope;
    }
  | { readonly kind: 'request'; readonly era: 'legacy'; readonly request: Request; readonly params: JsonObject }
  /** To be acted on and then answered with {@link accepted}. */
  | { readonly kind: 'notification'; readonly notification: Notification; readonly answer: HttpAnswer }
  | { readonly kind: 'refused'; readonly answer: HttpAnswer; readonly reason: string };

/** Judges one incoming POST. Never throws. */
export function checkRequest(incoming: Incoming, door: Door): Checked {
  const transport = checkTransport(incoming);
  if (transport !== undefined) return refuse(transport, `status ${transport.status}`);
  return checkBody(incoming.headers, incoming.body, door);
}

/** Judges the body of a POST whose transport is in order. Never throws. */
export function checkBody(headers: HeaderFields, body: Uint8Array, door: Door): Checked {
  const message = readMessage(body);
  if (message instanceof McpError) return refuseWith(null, message);
  if (message instanceof BadMessage) return refuseWith(message.id, new McpError(-32600, { message: message.message }));
  if (message.kind === 'notification') return { kind: 'notification', notification: message, answer: accepted };
  if (message.kind !== 'request')
    return refuseWith(null, new McpError(-32600, { message: 'a client sends requests, not responses' }));
  return checkEra(message, headers, door);
}

function readMessage(body: Uint8Array): Message | BadMessage | McpError {
  try {
    return parseMessage(parseJson(body, { duplicates: 'refuse' }));
  } catch (error) {
    if (error instanceof BadMessage) return error;
    if (error instanceof BadJson)
      return new McpError(error.reason === 'duplicate' ? -32600 : -32700, { message: error.message });
    throw error;
  }
}

function refuse(answer: HttpAnswer, reason: string): Checked {
  return { kind: 'refused', answer, reason };
}

function refuseWith(id: Id | null, error: McpError, era: Era = 'modern'): Checked {
  return refuse(answerError(id, error, era), error.message);
}

/** The body decides the era: a request that claims a version in its envelope is modern. The header only has to agree. */
function checkEra(request: Request, headers: HeaderFields, door: Door): Checked {
  const claimed = claimedVersion(request.params);
  const header = headerField(headers, headerNames.protocolVersion);
  if (claimed !== undefined) return checkModern(request, claimed, headers, door);
  if (header === modernVersion) return refuseWith(request.id, missingEnvelope(request, door));
  return door.legacyMethods === undefined
    ? refuseWith(request.id, unsupported(versionsOf(door), header ?? legacyClaim(request)))
    : checkLegacy(request, header, door);
}

const legacyClaim = (request: Request): unknown => request.params && member(request.params, 'protocolVersion');

function missingEnvelope(request: Request, door: Door): McpError {
  const reason = readEnvelope(request.params, door);
  return new McpError(-32602, { message: typeof reason === 'string' ? reason : 'params._meta is missing' });
}

const versionsOf = (door: Door): readonly string[] =>
  door.legacyMethods === undefined ? [modernVersion] : [modernVersion, ...legacyVersions];

/**
 * Names what is served, because it is the only hint that a client of another era ever sees. Who claims a version in an envelope is
 * told the ones an envelope may claim, as `server/discover` tells them.
 */
function unsupported(supported: readonly string[], requested: unknown): McpError {
  const asked = typeof requested === 'string' ? requested.slice(0, 64) : null;
  return new McpError(-32022, {
    message: `supported protocol versions: ${supported.join(', ')}`,
    data: { supported, requested: asked },
  });
}

function checkModern(request: Request, claimed: unknown, headers: HeaderFields, door: Door): Checked {
  const header = headerField(headers, headerNames.protocolVersion);
  if (typeof claimed === 'string' && header !== undefined && header !== claimed)
    return refuseWith(
      request.id,
      new McpError(-32020, { message: `header ${headerNames.protocolVersion} differs from the body` }),
    );
  if (typeof claimed === 'string' && claimed !== modernVersion)
    return refuseWith(request.id, unsupported([modernVersion], claimed));
  const params = request.params ?? {};
  const envelope = readEnvelope(params, door);
  if (typeof envelope === 'string') return refuseWith(request.id, new McpError(-32602, { message: envelope }));
  const mismatch = checkHeaders(headers, { method: request.method, params }, door);
  if (mismatch !== undefined) return refuseWith(request.id, new McpError(-32020, { message: mismatch }));
  if (!door.methods.has(request.method)) return refuseWith(request.id, new McpError(-32601));
  return { kind: 'request', era: 'modern', request, params, envelope };
}

function checkLegacy(request: Request, header: string | undefined, door: Door): Checked {
  if (header !== undefined && !legacyVersions.includes(header))
    return refuseWith(request.id, unsupported(versionsOf(door), header));
  if (door.legacyMethods?.has(request.method) !== true) return refuseWith(request.id, new McpError(-32601), 'legacy');
  return { kind: 'request', era: 'legacy', request, params: request.params ?? {} };
}

/** What a tools/call asks for. `args` keeps the arguments as they came; `metaText` is for {@link EnvelopeOptions.carriedText}. */
export interface CallParams {
  readonly name: string;
  readonly args: Json | undefined;
  readonly metaText: string | undefined;
}

/** Reads the params of tools/call; an error for params that no tool could mean. */
export function readCallParams(request: Request): CallParams | McpError {
  const params = request.params ?? {};
  const name = member(params, 'name');
  const args = member(params, 'arguments');
  if (typeof name !== 'string' || name === '' || name.length > limits.upstreamNameChars)
    return invalid(`name must be a text of 1 to ${limits.upstreamNameChars} characters`);
  if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args)))
    return invalid('arguments must be an object');
  const texts = rawMemberMap(request.paramsText ?? '{}');
  const argsText = args === undefined ? undefined : texts.get('arguments');
  return {
    name,
    args: argsText === undefined ? undefined : { text: argsText, value: args },
    metaText: texts.get('_meta'),
  };
}

/** Reads the params of tools/list: an absent cursor is the first page, an empty one is not. `most`: how long the server's own get. */
export function readListParams(
  request: Request,
  most: number = limits.cursorChars,
): { readonly cursor: string | undefined } | McpError {
  const cursor = member(request.params ?? {}, 'cursor');
  if (cursor !== undefined && (typeof cursor !== 'string' || cursor.length > most))
    return invalid('cursor must be a text that this server gave');
  return { cursor };
}

/** Wrong arguments of one request are told in-band: the request as such was in order. */
const invalid = (message: string): McpError => new McpError(-32602, { message, httpStatus: 200 });
