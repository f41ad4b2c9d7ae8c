/** What each method of the local server does, in both eras. The eras differ in how they begin and in what a result is wrapped in. */
import {
  answerError,
  answerResult,
  callResultText,
  discoverResultText,
  encodeNotification,
  errorOf,
  isProgressToken,
  legacyResultText,
  limits,
  listResultText,
  McpError,
  member,
  metaKeys,
  methods,
  negotiateLegacy,
  rawAt,
  rawMember,
  rawMembers,
  rawObject,
  readCallParams,
  readListParams,
  spliceMembers,
  acceptsEvents,
  type Checked,
  type HeaderFields,
  type HttpAnswer,
  type Implementation,
  type Request,
} from '../../protocol/index.ts';
import type { Aggregate } from './aggregate.ts';
import type { AggregateList } from './listThrough.ts';
import type { Binding } from './bindings.ts';
import type { Listeners } from './listen.ts';
import type { Reply } from './reply.ts';

export interface DispatchOptions {
  readonly aggregate: Aggregate;
  readonly listeners: Listeners;
  readonly serverInfo: Implementation;
}

/** One admitted request. */
export interface Asked {
  readonly checked: Extract<Checked, { kind: 'request' }>;
  readonly headers: HeaderFields;
  readonly binding: Binding;
  readonly reply: Reply;
  readonly signal: AbortSignal;
}

/** Key in the `_meta` of a list: connectors whose part is missing, and tools that were left out, each with the reason. */
export const incompleteKey = 'sh.tutti/incomplete';

const instructions =
  'Tools of the connectors that are available to this account now, named connector__tool. The list changes when connectors are connected or revoked.';

/** Answers a request. `undefined`: the answer is a stream that goes on. Never throws. */
export async function dispatch(options: DispatchOptions, asked: Asked): Promise<HttpAnswer | undefined> {
  const { request, era } = asked.checked;
  try {
    return await answer(options, asked);
  } catch (error) {
    return answerError(request.id, errorOf(error), era);
  }
}

async function answer(options: DispatchOptions, asked: Asked): Promise<HttpAnswer | undefined> {
  const { aggregate, listeners, serverInfo } = options;
  const { request, params, era } = asked.checked;
  const result = (text: string): HttpAnswer =>
    answerResult(request.id, era === 'legacy' ? legacyResultText(text) : text);
  switch (request.method) {
    case methods.discover:
      return result(discoverResultText({ serverInfo, listChanged: true, instructions }));
    case methods.initialize:
      return result(initializeResult(member(params, 'protocolVersion'), serverInfo));
    case methods.ping:
      return result('{}');
    case methods.list: {
      const read = readListParams(request, limits.joinedCursorChars);
      if (read instanceof McpError) throw read;
      return result(listText(await aggregate.list(read.cursor, asked.signal), serverInfo));
    }
    case methods.call:
      return result(await call(aggregate, asked));
    case methods.listen:
      return listeners.serve(asked.binding.id, request.id, params, asked.reply, asked.binding.revoked);
    default:
      throw new McpError(-32601);
  }
}

/** Nothing is promised that a request without a session can't keep: this era would be told of changes on a stream it has not. */
function initializeResult(requested: unknown, serverInfo: Implementation): string {
  const protocolVersion = negotiateLegacy(requested);
  const capabilities = { tools: { listChanged: false } };
  return JSON.stringify({ protocolVersion, capabilities, serverInfo, instructions });
}

function listText({ tools, nextCursor, missing, excluded }: AggregateList, serverInfo: Implementation): string {
  const text = listResultText(tools, nextCursor, serverInfo);
  if (missing.length === 0 && excluded.length === 0) return text;
  const meta = rawMembers(rawMember(text, '_meta') ?? '{}').map(({ name, raw }) => [name, raw] as const);
  const told = JSON.stringify({ missing, excluded });
  return spliceMembers(text, new Map([['_meta', rawObject([...meta, [incompleteKey, told]])]]));
}

async function call(aggregate: Aggregate, asked: Asked): Promise<string> {
  const { request } = asked.checked;
  const read = readCallParams(request);
  if (read instanceof McpError) throw read;
  const tokenText = acceptsEvents(asked.headers) ? progressToken(request) : undefined;
  const onProgress = (params: string): void => asked.reply.notify(encodeNotification(methods.progress, params));
  const progress = tokenText === undefined ? undefined : { tokenText, onProgress };
  const result = await aggregate.call(read, { signal: asked.signal, progress });
  return callResultText(result);
}

/** The agent's token as the text it sent, whatever its size. */
function progressToken(request: Request): string | undefined {
  const text = rawAt(request.paramsText ?? '{}', ['_meta', metaKeys.progressToken]);
  return text !== undefined && isProgressToken(JSON.parse(text)) ? text : undefined;
}
