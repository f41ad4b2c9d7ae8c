/**
 * Results: read from a server without trust, and written for a client.
 *
 * One malformed tool costs that tool and is told, not the whole list; a malformed list is never an empty one. Definitions and
 * results keep their text. Source: MCP 2026-07-28 (facts 1.4, 1.7, 1.8), weaknesses W17, W19 and W23 of the earlier client.
 */
import { isObject, type JsonObject, member, rawArray, rawAt, rawItems, rawObject, spliceMembers } from './json.ts';
import { limits } from './limits.ts';
import { type Implementation, isImplementation, metaKeys, modernVersion } from './mcp.ts';
import { type ParameterBinding, scanParameters } from './parameters.ts';

/** A result that breaks the protocol, with what it breaks. */
export class BadResult extends Error {
  override readonly name = 'BadResult';
}

/** A tool as its server defines it. `text` is the definition unchanged; `bindings` travel with every call made by it. */
export interface Tool {
  readonly name: string;
  readonly text: string;
  readonly definition: JsonObject;
  readonly bindings: readonly ParameterBinding[];
}

/** A tool that was left out of a list, and why. `name` is null when it has none. */
export interface ExcludedTool {
  readonly name: string | null;
  readonly reason: string;
}

export interface ToolPage {
  readonly tools: readonly Tool[];
  readonly excluded: readonly ExcludedTool[];
  /** Opaque; an empty text is a cursor, undefined is the end. */
  readonly nextCursor: string | undefined;
}

export interface Discovery {
  readonly supportedVersions: readonly string[];
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly listChanged: boolean;
}

/** The result of a call: the text to pass on, and what the protocol itself says in it. */
export interface CallResult {
  readonly text: string;
  readonly value: JsonObject;
  readonly isError: boolean;
}

function requireComplete(result: JsonObject): void {
  const type = member(result, 'resultType');
  if (type === 'input_required') throw new BadResult('the server asks for input, which was not offered to it');
  if (type !== 'complete') throw new BadResult('resultType is missing or unknown');
}

/** Reads a server/discover result; a server that does not speak our version or has no tools is refused. Throws {@link BadResult}. */
export function readDiscovery(result: JsonObject): Discovery {
  requireComplete(result);
  const versions = member(result, 'supportedVersions');
  const capabilities = member(result, 'capabilities');
  if (!Array.isArray(versions) || !versions.every((version) => typeof version === 'string'))
    throw new BadResult('supportedVersions is not a list of texts');
  if (!versions.includes(modernVersion)) throw new BadResult(`the server does not support ${modernVersion}`);
  const tools = isObject(capabilities) ? member(capabilities, 'tools') : undefined;
  if (!isObject(tools)) throw new BadResult('the server does not declare tools');
  const info = memberOf(member(result, '_meta'), metaKeys.serverInfo);
  const instructions = member(result, 'instructions');
  return {
    supportedVersions: versions,
    serverInfo: isImplementation(info) ? info : undefined,
    instructions: typeof instructions === 'string' ? instructions : undefined,
    listChanged: member(tools, 'listChanged') === true,
  };
}

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? member(value, name) : undefined);

/** Reads one page of tools/list from its value and text. `legacy` servers say no resultType; `seen` holds names of earlier pages. Throws {@link BadResult}. */
export function readToolPage(
  result: JsonObject,
  resultText: string,
  era: 'modern' | 'legacy' = 'modern',
  seen: Set<string> = new Set(),
): ToolPage {
  if (era === 'modern') requireComplete(result);
  const list = member(result, 'tools');
  if (!Array.isArray(list)) throw new BadResult('tools is not a list');
  const nextCursor = member(result, 'nextCursor') ?? undefined;
  if (nextCursor !== undefined && typeof nextCursor !== 'string') throw new BadResult('nextCursor is not a text');
  if (nextCursor !== undefined && nextCursor.length > limits.cursorChars) throw new BadResult('nextCursor is too long');
  const texts = rawItems(rawAt(resultText, ['tools']) ?? '[]');
  return { ...sortTools(list as unknown[], texts, seen), nextCursor };
}

/** Splits definitions into tools and excluded ones; `seen` holds the names of earlier pages and gains these. */
export function sortTools(
  list: readonly unknown[],
  texts: readonly string[],
  seen: Set<string>,
): { readonly tools: Tool[]; readonly excluded: ExcludedTool[] } {
  const tools: Tool[] = [];
  const excluded: ExcludedTool[] = [];
  list.forEach((definition, index) => {
    const tool = readTool(definition, texts[index] ?? '{}');
    if ('reason' in tool) excluded.push(tool);
    else if (seen.has(tool.name)) excluded.push({ name: tool.name, reason: 'another tool of this list has the name' });
    else {
      seen.add(tool.name);
      tools.push(tool);
    }
  });
  return { tools, excluded };
}

/** Reads one definition: a usable name, an object schema, and valid `x-mcp-header` marks. */
export function readTool(definition: unknown, text: string): Tool | ExcludedTool {
  if (!isObject(definition)) return { name: null, reason: 'the definition is not an object' };
  const name = member(definition, 'name');
  if (typeof name !== 'string' || name === '') return { name: null, reason: 'the tool has no name' };
  if (name.length > limits.upstreamNameChars)
    return { name: name.slice(0, limits.upstreamNameChars), reason: 'the name is too long' };
  const schema = member(definition, 'inputSchema');
  if (!isObject(schema) || member(schema, 'type') !== 'object')
    return { name, reason: 'inputSchema is not of type object' };
  const scan = scanParameters(schema);
  return scan.ok ? { name, text, definition, bindings: scan.bindings } : { name, reason: scan.reason };
}

/** Reads a tools/call result. Throws {@link BadResult}. */
export function readCallResult(
  result: JsonObject,
  resultText: string,
  era: 'modern' | 'legacy' = 'modern',
): CallResult {
  if (era === 'modern') requireComplete(result);
  if (!Array.isArray(member(result, 'content')) && !Object.hasOwn(result, 'structuredContent'))
    throw new BadResult('a tool result has content');
  return { text: resultText, value: result, isError: member(result, 'isError') === true };
}

const privately = [
  ['resultType', '"complete"'],
  ['ttlMs', '0'],
  ['cacheScope', '"private"'],
] as const;

/** What is answered for an account is private to it and old at once: every answer is read through. */
export function discoverResultText(options: {
  readonly serverInfo: Implementation;
  readonly listChanged?: boolean;
  readonly instructions?: string;
}): string {
  const { serverInfo, listChanged, instructions } = options;
  return rawObject([
    ...privately,
    ['supportedVersions', JSON.stringify([modernVersion])],
    ['capabilities', JSON.stringify({ tools: listChanged === true ? { listChanged } : {} })],
    ['instructions', instructions === undefined ? undefined : JSON.stringify(instructions)],
    ['_meta', serverInfoText(serverInfo)],
  ]);
}

const serverInfoText = (info: Implementation): string =>
  JSON.stringify({ [metaKeys.serverInfo]: { name: info.name, version: info.version } });

/** A tools/list result from definition texts. */
export function listResultText(
  tools: readonly string[],
  nextCursor: string | undefined,
  serverInfo: Implementation,
): string {
  const cursor = nextCursor === undefined ? undefined : JSON.stringify(nextCursor);
  return rawObject([
    ...privately,
    ['tools', rawArray(tools)],
    ['nextCursor', cursor],
    ['_meta', serverInfoText(serverInfo)],
  ]);
}

/** A call's result for a modern client: as it came, with `resultType` set where an older server said none. */
export function callResultText({ text, value }: Pick<CallResult, 'text' | 'value'>): string {
  return Object.hasOwn(value, 'resultType') ? text : spliceMembers(text, new Map([['resultType', '"complete"']]));
}

/** A modern result for a client of the `initialize` era: the members that era does not know are taken out. */
export function legacyResultText(modernText: string): string {
  return spliceMembers(
    modernText,
    new Map([
      ['resultType', undefined],
      ['ttlMs', undefined],
      ['cacheScope', undefined],
    ]),
  );
}

/** A tool's own failure: a result, not a protocol error, so that the model can read it. */
export function toolErrorText(message: string): string {
  return JSON.stringify({ resultType: 'complete', content: [{ type: 'text', text: message }], isError: true });
}
