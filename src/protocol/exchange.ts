/**
 * One POST and the one response that matches it, read as it arrives and closed when it is there.
 *
 * Every way an answer can fail ends here as a value, at once: a stream that stops, another id, an unknown content type, a redirect, a
 * body over its cap, silence. The official client hangs on four of these until its timeout. Sources: seed 1
 * "ModernStreamableHTTPClient", facts 2.3 rows 6–12, 23–25, faults D36, D40–D43.
 */
import type { Deadline } from './deadline.ts';
import { type HeaderFields, headerField, mediaType } from './fields.ts';
import { BadJson, parseJson } from './json.ts';
import {
  BadMessage,
  type ErrorResponse,
  type Message,
  type Notification,
  parseMessage,
  type ResultResponse,
} from './jsonrpc.ts';
import { limits } from './limits.ts';
import type { Outgoing } from './outgoing.ts';
import type { Post, PostResponse } from './post.ts';
import { BadStream, readEvents } from './sse.ts';

/** What came of a POST: a JSON-RPC response, a bare status, or no answer at all. */
export type Exchanged =
  | {
      readonly kind: 'response';
      readonly response: ResultResponse | ErrorResponse;
      readonly status: number;
      readonly headers: HeaderFields;
    }
  | { readonly kind: 'status'; readonly status: number; readonly headers: HeaderFields }
  | Broken;

export interface Broken {
  readonly kind: 'broken';
  readonly why: 'unreachable' | 'timeout' | 'aborted' | 'protocol';
  readonly detail: string;
  readonly status: number | undefined;
  /** Whether the server may have acted on the request. */
  readonly mayHaveRun: boolean;
  /** The connection broke before any byte of an answer, as an idle connection does that the server has just closed. */
  readonly stale: boolean;
}

export interface ExchangeOptions {
  readonly url: string;
  /** Is closed at the end. */
  readonly deadline: Deadline;
  /** Called for every notification of the stream, in order, before the response is returned. */
  readonly onNotification?: ((notification: Notification) => void) | undefined;
}

/** A reason in our own words why bytes are no answer. */
class NoAnswer extends Error {}

/** Errors whose text is ours and may be shown. */
const OURS = [NoAnswer, BadStream, BadJson, BadMessage] as const;

/** Sends a request and returns what it came to. Never throws, and never leaves a response open. */
export async function exchange(post: Post, outgoing: Outgoing, options: ExchangeOptions): Promise<Exchanged> {
  const { deadline } = options;
  let response: PostResponse | undefined;
  try {
    if (deadline.reason !== undefined) throw deadline.reason;
    response = await post({
      url: options.url,
      headers: outgoing.headers,
      body: outgoing.body,
      stop: deadline,
    });
    deadline.touch();
    return await readAnswer(response, outgoing, options);
  } catch (error) {
    if (response !== undefined && response.status >= 400 && deadline.ended !== 'aborted') return statusOf(response);
    return broken(error, deadline, response?.status);
  } finally {
    response?.destroy();
    deadline.close();
  }
}

/** A refusal whose body says nothing we can read is a refusal still: a bare 428 withdraws a route as much as a well-formed one. */
const statusOf = ({ status, headers }: PostResponse): Exchanged => ({ kind: 'status', status, headers });

function broken(error: unknown, deadline: Deadline, status: number | undefined): Broken {
  const code = codeOf(error);
  const base = { kind: 'broken', status, mayHaveRun: !NEVER_SENT.has(code), stale: false } as const;
  if (deadline.ended === 'timeout') return { ...base, why: 'timeout', detail: 'no answer in time' };
  if (deadline.ended === 'aborted') return { ...base, why: 'aborted', detail: 'the request was given up' };
  if (OURS.some((kind) => error instanceof kind)) return { ...base, why: 'protocol', detail: (error as Error).message };
  if (TIMEOUTS.has(code)) return { ...base, why: 'timeout', detail: 'no answer in time' };
  if (status !== undefined) return { ...base, why: 'protocol', detail: 'the answer broke off' };
  return { ...base, why: 'unreachable', detail: 'no connection', stale: STALE.has(code) };
}

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const STALE: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

async function readAnswer(response: PostResponse, outgoing: Outgoing, options: ExchangeOptions): Promise<Exchanged> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) throw new NoAnswer('the server redirects, which is never followed');
  if (!isIdentity(headers)) throw new NoAnswer('the answer is compressed, which was not offered');
  const type = mediaType(headers);
  const ok = status >= 200 && status < 300;
  if (type === 'text/event-stream') return readStream(response, outgoing, options);
  if (ok && type !== 'application/json' && type !== undefined)
    throw new NoAnswer('the answer is neither JSON nor an event stream');
  const message = await readBody(response, options, ok ? limits.resultBytes : limits.errorBytes);
  if (!isAnswer(message, outgoing)) throw new NoAnswer('the answer is to another request');
  return { kind: 'response', response: message, status, headers };
}

function isIdentity(headers: HeaderFields): boolean {
  const encoding = headerField(headers, 'content-encoding') ?? '';
  return encoding === '' || encoding.toLowerCase() === 'identity';
}

/** An error without an id answers the only request there is; a result must carry its id. */
function isAnswer(message: Message, outgoing: Outgoing): message is ResultResponse | ErrorResponse {
  if (message.kind === 'error') return message.id === outgoing.id || message.id === null;
  return message.kind === 'result' && message.id === outgoing.id;
}

async function readStream(response: PostResponse, outgoing: Outgoing, options: ExchangeOptions): Promise<Exchanged> {
  const { status, headers, body } = response;
  for await (const { event, data } of readEvents(touching(body, options.deadline))) {
    if (event !== undefined && event !== 'message') continue;
    const message = parseMessage(parseJson(data));
    if (message.kind === 'notification') options.onNotification?.(message);
    else if (isAnswer(message, outgoing)) return { kind: 'response', response: message, status, headers };
  }
  throw new NoAnswer('the stream ended before the answer');
}

async function* touching(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    deadline.touch();
    yield chunk;
  }
}

/** The one message of a body. Throws when it is none, or larger than its cap. */
async function readBody(response: PostResponse, options: ExchangeOptions, maxBytes: number): Promise<Message> {
  if (Number(headerField(response.headers, 'content-length') ?? 0) > maxBytes) throw new NoAnswer(tooLarge(maxBytes));
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    options.deadline.touch();
    size += chunk.byteLength;
    if (size > maxBytes) throw new NoAnswer(tooLarge(maxBytes));
    chunks.push(chunk);
  }
  return parseMessage(parseJson(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)));
}

const tooLarge = (maxBytes: number): string => `the answer is larger than ${maxBytes} bytes`;
