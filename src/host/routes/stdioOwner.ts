/** A connector's process as the owner of its tools: raw pages and results of the `initialize` era, in the words of the wire. */
import {
  BadResult,
  fail,
  isCarried,
  isReservedCode,
  limits,
  McpError,
  methods,
  rawMembers,
  rawObject,
  readCallResult,
  readToolPage,
  type ErrorResponse,
  type Outcome,
  type RequestOptions,
  type ResultResponse,
  type ToolCall,
} from '../../protocol/index.ts';
import type { Owner } from './owner.ts';
import type { ParamsText, StdioClient } from './stdioClient.ts';

/** `changes` counts what the server has announced, see StdioOptions.onToolsChanged. */
export function stdioOwner(client: StdioClient, changes: () => number): Owner {
  return {
    listPage: (cursor, options) => {
      const params = rawObject([['cursor', cursor === undefined ? undefined : JSON.stringify(cursor)]]);
      return ask(
        client,
        methods.list,
        () => params,
        options,
        undefined,
        ({ result, resultText }) => readToolPage(result, resultText, 'legacy'),
      );
    },
    callTool: (call, options) =>
      ask(
        client,
        methods.call,
        (token) => callParams(call, options, token),
        options,
        call.onProgress,
        ({ result, resultText }) => readCallResult(result, resultText, 'legacy'),
      ),
    changes: () => (client.announcesChanges ? changes() : undefined),
    exited: client.exited,
    close: () => client.close(),
  };
}

function callParams(call: ToolCall, options: RequestOptions, token: string): string {
  return rawObject([
    ['name', JSON.stringify(call.name)],
    ['arguments', call.args?.text],
    ['_meta', metaText(options.metaText, call.onProgress === undefined ? undefined : JSON.stringify(token))],
  ]);
}

/** The agent's own `_meta`, without what belongs to another hop. */
function metaText(carried: string | undefined, token: string | undefined): string | undefined {
  const kept = rawMembers(carried ?? '').filter(({ name }) => isCarried(name));
  if (kept.length === 0 && token === undefined) return undefined;
  return rawObject([...kept.map(({ name, raw }) => [name, raw] as const), ['progressToken', token]]);
}

async function ask<T>(
  client: StdioClient,
  method: string,
  params: ParamsText,
  options: RequestOptions,
  onProgress: ToolCall['onProgress'],
  read: (response: ResultResponse) => T,
): Promise<Outcome<T>> {
  const signal = options.signal ?? new AbortController().signal;
  const deadlineMs = options.deadlines?.totalMs ?? limits.totalMs;
  const told = onProgress === undefined ? {} : { onProgress: (text: string) => onProgress({}, text) };
  try {
    const answer = await client.ask(method, params, { signal, deadlineMs, ...told });
    return answer.kind === 'error' ? refused(answer) : { ok: true, value: read(answer) };
  } catch (error) {
    return lost(error, signal, method === methods.call);
  }
}

/** The server's own error is the answer to this request alone, whatever its code: only a gateway may say that a route is over (C39). */
function refused({ error }: ErrorResponse): Outcome<never> {
  if (isReservedCode(error.code)) return fail('protocol', 'the connector used a reserved error code');
  return fail('error', error.message, { code: error.code, error });
}

function lost(error: unknown, signal: AbortSignal, mayHaveRun: boolean): Outcome<never> {
  if (signal.aborted) return fail('aborted', 'the request was given up', { mayHaveRun });
  if (error instanceof BadResult) return fail('protocol', error.message, { mayHaveRun });
  if (!(error instanceof McpError)) throw error;
  const kind = error.code === -33004 ? 'timeout' : error.code === -33006 ? 'protocol' : 'unavailable';
  return fail(kind, error.message, { mayHaveRun });
}
