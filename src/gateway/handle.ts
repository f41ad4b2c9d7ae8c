/**
 * One HTTP request of door 1, from its path to its answer. What is wrong with it is told from the outside in, and the first thing
 * wrong is what is told: path, HTTP, session, body, message, headers, method; then the authority decides.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { answerError, answerHttp, answerResult, errorOf } from '../protocol/answer.ts';
import type { HttpAnswer } from '../protocol/answer.ts';
import { sessionToken } from '../protocol/accountToken.ts';
import type { McpError } from '../protocol/errors.ts';
import type { Id, Request } from '../protocol/jsonrpc.ts';
import { limits } from '../protocol/limits.ts';
import type { Envelope } from '../protocol/mcp.ts';
import { doorMethods, methods } from '../protocol/mcp.ts';
import { checkBody } from '../protocol/server.ts';
import { Ending } from '../protocol/stop.ts';
import { isConnectorId } from '../protocol/snapshot.ts';
import { acceptsEvents, checkTransport } from '../protocol/transport.ts';
import type { Door } from './door.ts';
import { inboundOf, sessionHash } from './inbound.ts';
import type { Caller } from './inbound.ts';
import { perform } from './methods.ts';
import { openReply, writeAnswer } from './reply.ts';
import { UpstreamFailure } from './upstream/failure.ts';

const PATH = /^\/v1\/connectors\/([^/?#]{1,128})\/mcp$/;
/** There is no body yet; how large it may be holds while it is read. */
const noBody = new Uint8Array();
const served = { methods: doorMethods, connector: true } as const;
const challenge = { 'www-authenticate': 'Bearer' } as const;

/** Answers one request. It never throws for what a caller sends. */
export async function handle(door: Door, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const connectorId = PATH.exec(message.url ?? '')?.[1];
  if (!isConnectorId(connectorId)) return turnAway(response, answerHttp(404, 'there is no connector at this path'));
  const transport = checkTransport({ method: message.method ?? '', headers: message.headers, body: noBody });
  if (transport !== undefined) return turnAway(response, transport);
  const token = sessionToken(message.headers);
  if (token === undefined)
    return turnAway(response, answerHttp(401, 'an account session is needed; sign in', challenge));
  await inTurn(door, response, { message, token, session: sessionHash(token), connectorId, traceId: door.newId() });
}

async function inTurn(door: Door, response: ServerResponse, caller: Caller): Promise<void> {
  let place;
  try {
    place = door.admission.enter();
  } catch (error) {
    return turnAway(response, answerError(null, errorIn(error)));
  }
  try {
    await judge(door, response, caller);
  } finally {
    place.leave();
  }
}

async function judge(door: Door, response: ServerResponse, caller: Caller): Promise<void> {
  const body = await readBody(caller.message);
  if (body === undefined)
    return turnAway(response, answerHttp(413, `the body is larger than ${limits.requestBytes} bytes`));
  const checked = checkBody(caller.message.headers, body, served);
  if (checked.kind !== 'request') return writeAnswer(response, checked.answer);
  // `served` names no older methods, so every request that is let through is modern.
  if (checked.era === 'modern') await answer(door, response, caller, checked.request, checked.envelope);
}

async function answer(
  door: Door,
  response: ServerResponse,
  caller: Caller,
  request: Request,
  envelope: Envelope,
): Promise<void> {
  const { reply, connection } = connect(door, response, caller, request);
  const startedAt = door.now();
  let error: McpError | undefined;
  try {
    door.admission.pace(caller.session);
    const text = await perform(door, inboundOf(caller, request, envelope, connection));
    reply.end(answerResult(request.id, text));
  } catch (cause) {
    error = errorIn(cause);
    if (error.code === -32603) door.log('error', 'a request broke', { traceId: caller.traceId, error: nameOf(cause) });
    reply.end(refusal(request.id, error));
  }
  door.log('info', 'answered', {
    traceId: caller.traceId,
    connector: caller.connectorId,
    method: request.method,
    code: error?.code ?? null,
    status: error?.httpStatus ?? 200,
    durationMs: door.now() - startedAt,
  });
}

function connect(door: Door, response: ServerResponse, { message }: Caller, request: Request) {
  const mayStream = request.method !== methods.discover && acceptsEvents(message.headers);
  const reply = openReply(response, mayStream ? door.bounds.patienceMs : null);
  const gone = new Ending();
  response.on('close', () => {
    // Every answer ends in a close; only one without an end is a caller that went away.
    if (!response.writableEnded) gone.end(new Error('the caller went away'));
  });
  return { reply, connection: { stop: gone, event: reply.event, rest: reply.rest } };
}

function refusal(id: Id, error: McpError): HttpAnswer {
  const answered = answerError(id, error);
  return error.httpStatus === 401 ? { ...answered, headers: { ...answered.headers, ...challenge } } : answered;
}

function errorIn(cause: unknown): McpError {
  return cause instanceof UpstreamFailure ? cause.answer : errorOf(cause);
}

/** The body was not read, so the connection can't be used for another request. */
function turnAway(response: ServerResponse, answered: HttpAnswer): void {
  writeAnswer(response, answered, { connection: 'close' });
}

/** The body, or undefined when it is too large. The listener's own deadline ends one that never comes. */
function readBody(message: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = Number(message.headers['content-length'] ?? 0) > limits.requestBytes ? Infinity : 0;
  return new Promise((resolve, reject) => {
    const take = (chunk: Uint8Array): void => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size > limits.requestBytes) tooLarge();
    };
    const tooLarge = (): void => {
      message.off('data', take);
      resolve(undefined);
    };
    if (size > limits.requestBytes) return tooLarge();
    // Listening is about half the cost of iterating, and this is done for every request.
    message.on('data', take);
    message.on('end', () => resolve(Buffer.concat(chunks, size)));
    message.on('error', reject);
    // Also a request that was read is closed some time; an error for each would cost more than reading it.
    message.on('close', () => message.complete || reject(new Error('the caller went away')));
  });
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
