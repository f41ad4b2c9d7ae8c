import { sessionRefused } from '../../protocol/failure.ts';
import { isObject } from '../../protocol/json.ts';
import { askDaemon } from '../daemon.ts';
import { CommandError, EXIT, signInHint, type ExitCode } from '../exit.ts';
import { SCHEMA_VERSION } from '../output.ts';
import { plain } from '../plain.ts';
import type { CommonOptions, Run } from '../program.ts';

type Options = CommonOptions & { readonly args: string };
interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
interface Answer {
  readonly resultText?: string;
  readonly isError?: boolean;
  readonly error?: RpcError;
}

/** Calls a tool as an agent would. Exit 1 when the tool failed, 4 when it wants authorization, 5 when it is away or too slow. */
export const run: Run<Options, [string]> = async ({ options, output }, tool) => {
  assertObject(options.args);
  const answer = (await askDaemon(options, 'call', { name: tool, argsText: options.args })) as Answer;
  const { resultText, isError = false, error } = answer;
  // The result's own text: parsed and written again, an integer beyond 2^53 would be another one.
  const told =
    error === undefined
      ? `"isError":${String(isError)},"result":${resultText ?? 'null'}`
      : `"error":${JSON.stringify(error)}`;
  if (output.json)
    await output.lines([`{"schemaVersion":${String(SCHEMA_VERSION)},"tool":${JSON.stringify(tool)},${told}}`]);
  else if (error === undefined) await output.lines([plain(contentText(resultText ?? '{}'))]);
  if (error !== undefined)
    output.note(`error ${String(error.code)}: ${plain(error.message)}\n  next: ${nextStep(error, tool)}`);
  return error === undefined ? (isError ? EXIT.failed : EXIT.ok) : codeOf(error);
};

function assertObject(text: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new CommandError(EXIT.usage, '--args is not a JSON object', `for example: --args '{"message":"hello"}'`);
}

function codeOf(error: RpcError): ExitCode {
  const { code } = error;
  if (mayHaveActed(error)) return EXIT.unavailable;
  if (isOfSession(error)) return EXIT.unauthorized;
  if (code === -33001 || code === -33002) return EXIT.unauthorized;
  return code <= -33003 && code >= -33005 ? EXIT.unavailable : EXIT.failed;
}

/** The account's own session is not accepted: no connector can be authorized before it is. */
function isOfSession({ data }: RpcError): boolean {
  return isObject(data) && data['accountSession'] === sessionRefused.accountSession;
}

/** Ours is in the data; another hop's is in its words. */
function mayHaveActed({ data, message }: RpcError): boolean {
  return (isObject(data) && data['outcomeUnknown'] === true) || message.includes('acted is unknown');
}

function nextStep(error: RpcError, tool: string): string {
  const { code } = error;
  const connector = tool.split('__')[0] ?? tool;
  if (code === -33001 || code === -33002) return `dacapo connect ${connector}`;
  if (isOfSession(error)) return signInHint;
  // Whoever reads "try again" after a call that may have acted, acts twice.
  if (mayHaveActed(error)) return 'look whether it acted before you call it again';
  // Away for a moment or never installed: what would help is not the same, and `why` knows which it is.
  if (code === -33003) return `\`dacapo why ${connector}\` says what it waits for`;
  return code === -33004 || code === -33005 ? 'try again later' : '`dacapo tools` lists what there is';
}

/** Text as it is; of anything else, what kind it is. */
function contentText(resultText: string): string {
  const { content = [] } = JSON.parse(resultText) as {
    readonly content?: readonly Readonly<Record<string, unknown>>[];
  };
  return content
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : `[${String(part['type'])}]`))
    .join('\n');
}
