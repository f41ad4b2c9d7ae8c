/**
 * The modern client: MCP 2026-07-28 over a `post`, stateless in every request.
 *
 * It keeps no list and no schema: what a call needs travels with it. It sends nothing but POSTs of three methods, follows nothing,
 * resumes nothing, and ignores session ids. Answers are values; the only exceptions are programming errors. Source: seed 1
 * "ModernStreamableHTTPClient", facts 2.3.
 */
import { type Deadlines, defaultDeadlines } from './deadline.ts';
import { fail, type Outcome } from './failure.ts';
import type { Json } from './json.ts';
import type { ResultResponse } from './jsonrpc.ts';
import { limits } from './limits.ts';
import { type Implementation, methods } from './mcp.ts';
import { type Intent, senderOf } from './outgoing.ts';
import type { ParameterBinding } from './parameters.ts';
import type { Post } from './post.ts';
import {
  BadResult,
  type CallResult,
  type Discovery,
  type ExcludedTool,
  readCallResult,
  readDiscovery,
  readToolPage,
  type Tool,
  type ToolPage,
} from './results.ts';
import { type Context, type OnProgress, type RequestOptions, send } from './send.ts';

export interface ClientOptions {
  readonly post: Post;
  readonly url: string;
  readonly clientInfo: Implementation;
  /** The installed release, in header and `_meta` of every request; null for a server that pins none. */
  readonly connectorVersion: string | null;
  /** Milliseconds since epoch, for Retry-After dates. */
  readonly now: () => number;
  readonly deadlines?: Partial<Deadlines>;
}

export interface ToolCall {
  readonly name: string;
  /** From the definition that this very call is made by. */
  readonly bindings: readonly ParameterBinding[];
  readonly args: Json | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export interface ToolList {
  readonly tools: readonly Tool[];
  readonly excluded: readonly ExcludedTool[];
  readonly pages: number;
}

export interface ModernClient {
  /** Asks what the server is; refuses one that does not speak this version or has no tools. */
  discover(options?: RequestOptions): Promise<Outcome<Discovery>>;
  /** One page. `undefined` is the first one; an empty text is a cursor like any other. */
  listPage(cursor: string | undefined, options?: RequestOptions): Promise<Outcome<ToolPage>>;
  /** All pages, bounded; a cursor that comes again is an error, not a loop. */
  listAll(options?: RequestOptions): Promise<Outcome<ToolList>>;
  /** Calls a tool once. Only after -32020, which says that nothing ran, is the list read again and the call made a second time. */
  callTool(call: ToolCall, options?: RequestOptions): Promise<Outcome<CallResult>>;
}

const HEADER_SAFE = /^[\x21-\x7e]{1,64}$/;

/** Opens nothing: a client is the options and a count of requests. Throws a RangeError for a version no header can carry. */
export function createModernClient(options: ClientOptions): ModernClient {
  if (options.connectorVersion !== null && !HEADER_SAFE.test(options.connectorVersion))
    throw new RangeError('the connector version is not a short text without spaces');
  const { post, url, now, clientInfo, connectorVersion } = options;
  const sender = senderOf(clientInfo, connectorVersion);
  const context: Context = {
    ...sender,
    post,
    url,
    now,
    deadlines: { ...defaultDeadlines, ...options.deadlines },
    count: 0,
  };
  return {
    discover: (request) =>
      readAs(context, { method: methods.discover }, request, ({ result }) => readDiscovery(result)),
    listPage: (cursor, request) => listPage(context, cursor, new Set(), request),
    listAll: (request) => listAll(context, request),
    callTool: (call, request) => callTool(context, call, request),
  };
}

function listPage(
  context: Context,
  cursor: string | undefined,
  seen: Set<string>,
  request?: RequestOptions,
): Promise<Outcome<ToolPage>> {
  return readAs(context, { method: methods.list, cursor }, request, ({ result, resultText }) =>
    readToolPage(result, resultText, 'modern', seen),
  );
}

async function listAll(context: Context, request?: RequestOptions): Promise<Outcome<ToolList>> {
  const tools: Tool[] = [];
  const excluded: ExcludedTool[] = [];
  const names = new Set<string>();
  for await (const page of pages(context, names, request)) {
    if (!page.ok) return page;
    tools.push(...page.value.tools);
    excluded.push(...page.value.excluded);
    if (tools.length + excluded.length > limits.tools)
      return fail('protocol', `the list has more than ${limits.tools} tools`);
    if (page.value.nextCursor === undefined) return { ok: true, value: { tools, excluded, pages: page.number } };
  }
  return fail('protocol', `the list has more than ${limits.pages} pages`);
}

type NumberedPage = Outcome<ToolPage> & { readonly number: number };

/** Pages one after the other until the end, a failure, or a bound; a bound ends it without a last page. */
async function* pages(context: Context, names: Set<string>, request?: RequestOptions): AsyncGenerator<NumberedPage> {
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let size = 0;
  for (let number = 1; number <= limits.pages; number++) {
    const page = await listPage(context, cursor, names, request);
    yield { ...page, number };
    if (!page.ok) return;
    cursor = page.value.nextCursor;
    size += page.value.tools.reduce((sum, tool) => sum + tool.text.length, 0);
    if (cursor !== undefined && cursors.has(cursor))
      return void (yield { ...fail('protocol', 'the list repeats a cursor'), number });
    if (size > limits.listBytes)
      return void (yield { ...fail('protocol', `the list is larger than ${limits.listBytes} bytes`), number });
    if (cursor !== undefined) cursors.add(cursor);
  }
}

async function callTool(context: Context, call: ToolCall, request?: RequestOptions): Promise<Outcome<CallResult>> {
  const first = await callOnce(context, call, request);
  if (first.ok || first.failure.code !== -32020) return first;
  const current = await findTool(context, call.name, request);
  if (!current.ok) return current;
  return callOnce(context, { ...call, bindings: current.value.bindings }, request);
}

function callOnce(context: Context, call: ToolCall, request?: RequestOptions): Promise<Outcome<CallResult>> {
  const { name, bindings, args } = call;
  const intent: Intent = { method: methods.call, name, bindings, args };
  return readAs(
    context,
    intent,
    request,
    ({ result, resultText }) => readCallResult(result, resultText),
    call.onProgress,
  );
}

async function findTool(context: Context, name: string, request?: RequestOptions): Promise<Outcome<Tool>> {
  for await (const page of pages(context, new Set(), { ...request, metaText: undefined })) {
    if (!page.ok) return page;
    const tool = page.value.tools.find((candidate) => candidate.name === name);
    if (tool !== undefined) return { ok: true, value: tool };
    if (page.value.nextCursor === undefined) break;
  }
  return fail('contract', 'the tool is not listed any more');
}

/** Sends one request and reads its result; a result that breaks the protocol is a failure like any other. */
async function readAs<T>(
  context: Context,
  intent: Intent,
  request: RequestOptions | undefined,
  read: (response: ResultResponse) => T,
  onProgress?: OnProgress,
): Promise<Outcome<T>> {
  const answer = await send(context, intent, request ?? {}, onProgress);
  if (!answer.ok) return answer;
  try {
    return { ok: true, value: read(answer.value) };
  } catch (error) {
    if (!(error instanceof BadResult)) throw error;
    const mayHaveRun = intent.method === methods.call;
    return fail(intent.method === methods.discover ? 'contract' : 'protocol', error.message, { mayHaveRun });
  }
}
