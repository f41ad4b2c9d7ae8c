/** One request of the modern client, sent once, judged by the table, and sent again only where nothing can have run. */
import { type Deadlines, openDeadline } from './deadline.ts';
import { classify } from './errors.ts';
import { type Broken, exchange, type Exchanged } from './exchange.ts';
import { fail, type Outcome } from './failure.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { makeId, type Notification, type ResultResponse, type RpcError } from './jsonrpc.ts';
import { metaKeys, methods, modernVersion, type ProgressToken } from './mcp.ts';
import { type Attachments, compose, type Intent, type Sender } from './outgoing.ts';
import type { Post } from './post.ts';

/** Where requests go and what is the same in all of them. */
export interface Context extends Sender {
  readonly post: Post;
  readonly url: string;
  readonly now: () => number;
  readonly deadlines: Deadlines;
  /** Requests so far: an id is never used again. */
  count: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly deadlines?: Partial<Deadlines> | undefined;
  /** The `_meta` of the agent's own request, as text; what is reserved in it is not carried on. */
  readonly metaText?: string | undefined;
}

/** Progress as it comes; `paramsText` holds our token, to be replaced before it is passed on. */
export type OnProgress = (params: JsonObject, paramsText: string) => void;

/** At most twice, and never after something may have run: a stale connection, and a server that refuses a version it supports. */
export async function send(
  context: Context,
  intent: Intent,
  request: RequestOptions,
  onProgress: OnProgress | undefined,
): Promise<Outcome<ResultResponse>> {
  const first = await sendOnce(context, intent, request, onProgress);
  if (first.ok || !first.again) return first;
  return sendOnce(context, intent, request, onProgress);
}

type Sent = Outcome<ResultResponse> & { readonly again: boolean };

async function sendOnce(
  context: Context,
  intent: Intent,
  request: RequestOptions,
  onProgress: OnProgress | undefined,
): Promise<Sent> {
  const number = ++context.count;
  const progressToken = onProgress === undefined ? undefined : number;
  const attached: Attachments = { progressToken, carriedText: request.metaText };
  const outgoing = compose(context, makeId(number), intent, attached);
  if (typeof outgoing === 'string') return { ...fail('error', outgoing, { code: -32602 }), again: false };
  const deadline = openDeadline({ ...context.deadlines, ...request.deadlines }, request.signal);
  const onNotification = progressToken === undefined ? undefined : forwardProgress(progressToken, onProgress);
  const exchanged = await exchange(context.post, outgoing, { url: context.url, deadline, onNotification });
  return judge(exchanged, intent, context.now());
}

function forwardProgress(token: ProgressToken, onProgress: OnProgress | undefined) {
  return ({ method, params, paramsText }: Notification): void => {
    if (method === methods.progress && params !== undefined && member(params, metaKeys.progressToken) === token)
      onProgress?.(params, paramsText ?? '{}');
  };
}

function judge(exchanged: Exchanged, intent: Intent, nowMs: number): Sent {
  if (exchanged.kind === 'broken')
    return { ...brokenOutcome(exchanged), again: exchanged.stale && intent.method !== methods.call };
  const { status, headers } = exchanged;
  const response = exchanged.kind === 'response' ? exchanged.response : undefined;
  if (response?.kind === 'result' && status < 300) return { ok: true, value: response, again: false };
  const error = response?.kind === 'error' ? response.error : undefined;
  const { kind, code, retryAfterMs } = classify({ status, error, headers }, nowMs);
  const message = error?.message ?? `the server answered with status ${status}`;
  return { ...fail(kind, message, { code, status, error, retryAfterMs }), again: code === -32022 && offersOurs(error) };
}

function offersOurs(error: RpcError | undefined): boolean {
  const supported = isObject(error?.data) ? member(error.data, 'supported') : undefined;
  return Array.isArray(supported) && supported.includes(modernVersion);
}

function brokenOutcome({ why, detail, status, mayHaveRun }: Broken): Outcome<never> {
  return fail(why === 'unreachable' ? 'unavailable' : why, detail, { status, mayHaveRun });
}
