/**
 * `x-mcp-header`: which arguments of a tool travel as `Mcp-Param-*` headers too.
 *
 * The bindings read from a tool's schema are a value that travels with the call. There is no table of them: a table shared by
 * concurrent calls can be replaced by another agent's list between check and use. Sources: MCP 2026-07-28 transports, facts 1.4;
 * weaknesses W17, W19b and W20 of the earlier client.
 */
import { type HeaderFields, headerField } from './fields.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { limits } from './limits.ts';
import { decodeHeaderValue, encodeHeaderValue } from './sentinel.ts';

export type ParameterType = 'string' | 'integer' | 'boolean';

/** One argument and its header: `path` leads from the arguments' root through `properties` only. */
export interface ParameterBinding {
  readonly header: string;
  readonly path: readonly string[];
  readonly type: ParameterType;
}

export type ParameterScan =
  | { readonly ok: true; readonly bindings: readonly ParameterBinding[] }
  | { readonly ok: false; readonly reason: string };

export const PARAMETER_PREFIX = 'mcp-param-';
const KEYWORD = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const SECRET =
  /^(?:x[-_]?)?(?:api[-_]?key|access[-_]?key|private[-_]?key|(?:(?:access|auth|refresh|bearer|id|session|api)[-_]?)?token|(?:client[-_]?)?secret|pass(?:word|phrase|wd)|(?:proxy[-_]?)?authorization|(?:set[-_]?)?cookie|credentials?)$/i;

/** Keywords whose value is one schema, a list of schemas, or a map of schemas: nothing below them is reachable by `properties`. */
const ONE = [
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
];
const MANY = ['items', 'prefixItems', 'oneOf', 'anyOf', 'allOf'];
const MAP = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/**
 * Reads the bindings of an inputSchema, or the reason why the whole tool must be left out: HTTP clients drop such a tool and keep
 * the others. Only schema positions are walked, never `default`, `const`, `enum` or `examples`.
 */
export function scanParameters(inputSchema: unknown): ParameterScan {
  const bindings: ParameterBinding[] = [];
  const reason = walk(inputSchema, [], 0, bindings);
  return reason === undefined ? { ok: true, bindings } : { ok: false, reason };
}

type Reach = readonly string[] | null; // null: not reachable by `properties` alone

function walk(schema: unknown, path: Reach, depth: number, found: ParameterBinding[]): string | undefined {
  if (!isObject(schema)) return undefined;
  if (depth > limits.schemaDepth) return `the schema nests deeper than ${limits.schemaDepth}`;
  const problem = Object.hasOwn(schema, KEYWORD) ? bind(schema, path, found) : undefined;
  if (problem !== undefined) return problem;
  for (const [child, reach] of children(schema, path)) {
    const below = walk(child, reach, depth + 1, found);
    if (below !== undefined) return below;
  }
  return undefined;
}

function* children(schema: JsonObject, path: Reach): Generator<readonly [unknown, Reach]> {
  const properties = member(schema, 'properties');
  if (isObject(properties))
    for (const [name, child] of Object.entries(properties)) yield [child, path && [...path, name]];
  for (const keyword of ONE) yield [member(schema, keyword), null];
  for (const keyword of MANY) {
    const list = member(schema, keyword);
    if (Array.isArray(list)) for (const child of list as unknown[]) yield [child, null];
  }
  for (const keyword of MAP) {
    const map = member(schema, keyword);
    if (isObject(map)) for (const child of Object.values(map)) yield [child, null];
  }
}

function bind(schema: JsonObject, path: Reach, found: ParameterBinding[]): string | undefined {
  const header = schema[KEYWORD];
  const type = member(schema, 'type');
  if (path === null || path.length === 0) return `${KEYWORD} stands where no chain of properties leads`;
  if (typeof header !== 'string' || !TOKEN.test(header) || header.length > limits.upstreamNameChars)
    return `${KEYWORD} is not a header name`;
  if (type !== 'string' && type !== 'integer' && type !== 'boolean')
    return `${KEYWORD} stands on a type other than string, integer or boolean`;
  if (found.some((other) => other.header.toLowerCase() === header.toLowerCase()))
    return `${KEYWORD} names a header twice`;
  if (isSecret(schema, header, path)) return `${KEYWORD} would put a secret into a header`;
  found.push({ header, path, type });
  return undefined;
}

/** Headers are logged by every hop, so what is marked or named as a secret never becomes one. Threat C42. */
function isSecret(schema: JsonObject, header: string, path: readonly string[]): boolean {
  const marked = member(schema, 'writeOnly') === true || member(schema, 'format') === 'password';
  return marked || SECRET.test(header) || SECRET.test(path.at(-1) ?? '');
}

/** The argument a binding points at; null and absent are the same: no header. */
function argumentAt(args: unknown, path: readonly string[]): unknown {
  let current = args;
  for (const name of path) current = isObject(current) ? member(current, name) : undefined;
  return current ?? undefined;
}

function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return Number.isSafeInteger(value) ? String(value === 0 ? 0 : value) : undefined; // -0 is 0
}

export type ParameterHeaders =
  | { readonly ok: true; readonly headers: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly reason: string };

/** The `Mcp-Param-*` headers of one call (client side), or why an argument cannot be one. */
export function encodeParameters(bindings: readonly ParameterBinding[], args: unknown): ParameterHeaders {
  const headers = new Map<string, string>();
  for (const { header, path } of bindings) {
    const value = argumentAt(args, path);
    if (value === undefined) continue;
    const text = plainText(value);
    const encoded = text === undefined ? undefined : encodeHeaderValue(text);
    if (encoded === undefined)
      return {
        ok: false,
        reason: `argument ${path.join('.')} cannot be sent as a header: it must be a text, a boolean or an integer within 2^53`,
      };
    headers.set(`Mcp-Param-${header}`, encoded);
  }
  return { ok: true, headers };
}

/** Whether headers and arguments of a call agree (server side): undefined, or what disagrees, as text for -32020. */
export function checkParameters(
  bindings: readonly ParameterBinding[],
  args: unknown,
  headers: HeaderFields,
): string | undefined {
  for (const { header, path } of bindings) {
    const value = argumentAt(args, path);
    const sent = headerField(headers, PARAMETER_PREFIX + header.toLowerCase());
    if (value === undefined && sent === undefined) continue;
    if (value === undefined) return `header Mcp-Param-${header} has no argument`;
    if (sent === undefined) return `header Mcp-Param-${header} is missing`;
    const decoded = decodeHeaderValue(sent);
    if (decoded === undefined) return `header Mcp-Param-${header} is not validly encoded`;
    if (!agrees(decoded, value)) return `header Mcp-Param-${header} differs from its argument`;
  }
  return undefined;
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Integers are compared as numbers (`42.0` is 42), within the range a float holds exactly. */
function agrees(header: string, value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && NUMBER.test(header) && Number(header) === value;
  return plainText(value) === header;
}
