/**
 * JSON as it came: read strictly, and passed on without being written again.
 *
 * `JSON.parse` alone is not enough here. It rounds 64-bit integers, keeps the last of two equal keys in silence, and takes any
 * depth; a decoder that is not fatal lets invalid UTF-8 through. And what is parsed and stringified again has lost digits and
 * key order, so tool definitions and results travel as the slices of text they were. Sources: facts of reliability B13–B16.
 */
import { limits } from './limits.ts';
import { endOfString, marks, skipSpace, unquote } from './raw.ts';

export * from './raw.ts';

export type BadJsonReason = 'utf8' | 'syntax' | 'depth' | 'duplicate' | 'size';

/** Why bytes were not accepted as JSON. The message names no content of theirs. */
export class BadJson extends Error {
  override readonly name = 'BadJson';
  readonly reason: BadJsonReason;
  constructor(reason: BadJsonReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A parsed text together with itself. */
export interface Json {
  readonly text: string;
  readonly value: unknown;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** An object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member, so that a foreign name never finds what every object inherits. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export interface ParseOptions {
  readonly maxBytes?: number;
  readonly maxDepth?: number;
  /** `refuse` where two readers of one body could disagree about it: requests, snapshots, hints. */
  readonly duplicates?: 'refuse' | 'last';
}

/**
 * Reads one JSON text. A byte order mark, invalid UTF-8, trailing text and nesting beyond the cap are refused.
 * Throws {@link BadJson}.
 */
export function parseJson(source: Uint8Array | string, options: ParseOptions = {}): Json {
  const text = typeof source === 'string' ? source : decode(source, options.maxBytes);
  if (depthOf(text) > (options.maxDepth ?? limits.jsonDepth)) throw new BadJson('depth', 'JSON is nested too deeply');
  const value = parseText(text);
  if (options.duplicates === 'refuse' && hasDuplicate(text))
    throw new BadJson('duplicate', 'JSON names a member twice');
  return { text, value };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array, maxBytes = Infinity): string {
  if (bytes.byteLength > maxBytes) throw new BadJson('size', `JSON is larger than ${maxBytes} bytes`);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new BadJson('utf8', 'JSON is not valid UTF-8');
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new BadJson('syntax', 'not valid JSON'); // the engine's own message quotes the text
  }
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === marks.quote) at = endOfString(text, at) - 1;
    else if (code === marks.openArray || code === marks.openObject) deepest = Math.max(deepest, ++depth);
    else if (code === marks.closeArray || code === marks.closeObject) depth--;
  }
  return deepest;
}

/** A string followed by a colon is a member's name, wherever it stands: one pass finds every object's names. */
function hasDuplicate(text: string): boolean {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === marks.openObject) open.push(new Set());
    else if (code === marks.openArray) open.push(null);
    else if (code === marks.closeArray || code === marks.closeObject) open.pop();
    else if (code === marks.quote) {
      const end = endOfString(text, at);
      if (text.charCodeAt(skipSpace(text, end)) === marks.colon) {
        const names = open.at(-1);
        const name = unquote(text.slice(at, end));
        if (names?.has(name)) return true;
        names?.add(name);
      }
      at = end - 1;
    }
  }
  return false;
}
