import { describe, expect, it } from 'vitest';
import {
  checkParameters,
  encodeParameters,
  type ParameterBinding,
  readTool,
  scanParameters,
} from '../../src/protocol/index.ts';
import { corpora, corpusFiles } from '../support/protocol/corpora.ts';

const marked = (header: unknown, more: object = {}): object => ({ type: 'string', 'x-mcp-header': header, ...more });
const schema = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const reason = (inputSchema: unknown): string => {
  const scan = scanParameters(inputSchema);
  return scan.ok ? 'accepted' : scan.reason;
};
const bindingsOf = (inputSchema: unknown): readonly ParameterBinding[] => {
  const scan = scanParameters(inputSchema);
  if (!scan.ok) throw new Error(scan.reason);
  return scan.bindings;
};

describe('x-mcp-header', () => {
  it('binds arguments reached by properties alone, at any depth', () => {
    const nested = schema({ a: marked('Region'), deep: schema({ b: marked('Tenant-Id', { type: 'integer' }) }) });
    expect(bindingsOf(nested)).toEqual([
      { header: 'Region', path: ['a'], type: 'string' },
      { header: 'Tenant-Id', path: ['deep', 'b'], type: 'integer' },
    ]);
  });

  it.each([
    ['items', schema({ a: { type: 'array', items: marked('X') } })],
    ['prefixItems', schema({ a: { type: 'array', prefixItems: [marked('X')] } })],
    ['oneOf', schema({ a: { oneOf: [marked('X')] } })],
    ['anyOf', schema({ a: marked('Y') }, { anyOf: [schema({ b: marked('X') })] })],
    ['allOf', schema({}, { allOf: [schema({ a: marked('X') })] })],
    ['not', schema({ a: { not: marked('X') } })],
    ['if', schema({}, { if: schema({ a: marked('X') }) })],
    ['then', schema({}, { then: schema({ a: marked('X') }) })],
    ['else', schema({}, { else: schema({ a: marked('X') }) })],
    ['$defs', schema({}, { $defs: { d: marked('X') } })],
    ['definitions', schema({}, { definitions: { d: marked('X') } })],
    ['additionalProperties', schema({}, { additionalProperties: marked('X') })],
    ['patternProperties', schema({}, { patternProperties: { '.*': marked('X') } })],
    ['dependentSchemas', schema({}, { dependentSchemas: { a: schema({ b: marked('X') }) } })],
    ['dependencies of draft 7', schema({}, { dependencies: { a: schema({ b: marked('X') }) } })],
    ['the root', { ...schema({}), 'x-mcp-header': 'X' }],
  ])('excludes the tool when it stands under %s', (_where, inputSchema) => {
    expect(reason(inputSchema)).toMatch('no chain of properties leads');
  });

  it.each(['', 'a b', 'a:b', 'a\r\nb', 'é', 7, null])('excludes the tool when its name is %j', (header) => {
    expect(reason(schema({ a: marked(header) }))).toMatch('is not a header name');
  });

  it.each(['number', 'object', 'array', 'null', undefined, ['string', 'null']])(
    'excludes the tool on type %j',
    (type) => {
      expect(reason(schema({ a: marked('X', { type }) }))).toMatch('other than string, integer or boolean');
    },
  );

  it('excludes the tool when two names differ only in case', () => {
    expect(reason(schema({ a: marked('Region'), b: schema({ c: marked('REGION') }) }))).toMatch('names a header twice');
  });

  it.each(['apiKey', 'api_key', 'X-Api-Key', 'password', 'accessToken', 'client_secret', 'Authorization', 'cookie'])(
    'excludes the tool rather than put %s into a header',
    (name) => {
      expect(reason(schema({ [name]: marked('Harmless') }))).toMatch('secret');
      expect(reason(schema({ harmless: marked('X', { writeOnly: true }) }))).toMatch('secret');
    },
  );

  it('is only a word in default, const, enum, examples, and as the name of a property', () => {
    const words = { 'x-mcp-header': 'X' };
    const quoted = schema({
      'x-mcp-header': { type: 'string' },
      a: { default: words, const: words, enum: [words], examples: [words] },
    });
    expect(bindingsOf(quoted)).toEqual([]);
  });

  it('does not follow a schema deeper than its limit', () => {
    let deep: object = marked('X');
    for (let level = 0; level < 40; level++) deep = schema({ a: deep });
    expect(reason(deep)).toMatch('nests deeper');
  });

  it('leaves prototype keys alone', () => {
    const inputSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","x-mcp-header":"P"}}}',
    ) as object;
    expect(bindingsOf(inputSchema)).toEqual([{ header: 'P', path: ['__proto__'], type: 'string' }]);
    expect(encodeParameters(bindingsOf(inputSchema), {})).toEqual({ ok: true, headers: new Map() });
  });

  it(`never throws on a schema of JSON-Schema-Test-Suite (${corpora === undefined ? 'no corpora: 0' : 'all'} schemas)`, () => {
    const groups = corpusFiles('json-schema', 'tests', 'draft2020-12').flatMap(
      ({ bytes }) => JSON.parse(bytes.toString('utf8')) as { schema: unknown }[],
    );
    const kept = groups.map(({ schema: inner }) =>
      readTool({ name: 't', inputSchema: { type: 'object', properties: { a: inner } } }, '{}'),
    );
    expect(kept.filter((tool) => 'reason' in tool)).toEqual([]);
    expect(groups.length > 300).toBe(corpora !== undefined);
  });
});

const all = bindingsOf(
  schema({
    s: marked('S'),
    i: marked('I', { type: 'integer' }),
    b: marked('B', { type: 'boolean' }),
    o: schema({ n: marked('N') }),
  }),
);
const encode = (args: unknown): unknown => {
  const made = encodeParameters(all, args);
  return made.ok ? Object.fromEntries(made.headers) : made.reason;
};

describe('Mcp-Param headers of a call', () => {
  it('carry texts, integers and booleans, and leave out null and absent', () => {
    expect(encode({ s: 'a', i: 42, b: false, o: { n: 'é' } })).toEqual({
      'Mcp-Param-S': 'a',
      'Mcp-Param-I': '42',
      'Mcp-Param-B': 'false',
      'Mcp-Param-N': '=?base64?w6k=?=',
    });
    expect(encode({ s: null, o: {} })).toEqual({});
    expect(encode(undefined)).toEqual({});
    expect(encode({ s: '', i: -0 })).toEqual({ 'Mcp-Param-S': '=?base64??=', 'Mcp-Param-I': '0' });
  });

  it.each([[{ i: 2 ** 53 }], [{ i: 1.5 }], [{ s: {} }], [{ s: ['a'] }], [{ s: '\ud800' }]])(
    'refuse %j with a reason',
    (args) => {
      expect(encode(args)).toMatch(/^argument \w cannot be sent as a header/);
    },
  );
});

const check = (args: unknown, headers: Readonly<Record<string, string>>): string | undefined =>
  checkParameters(all, args, headers);

describe('Mcp-Param headers at a server', () => {
  it('agree numerically for integers and exactly for the rest', () => {
    expect(check({ i: 42 }, { 'mcp-param-i': '42.0' })).toBeUndefined();
    expect(check({ i: 1_000_000 }, { 'mcp-param-i': '1e6' })).toBeUndefined();
    expect(check({ s: 'é', b: true }, { 'mcp-param-s': '=?base64?w6k=?=', 'mcp-param-b': 'true' })).toBeUndefined();
    expect(check({ s: '' }, { 'mcp-param-s': '' })).toBeUndefined();
    expect(check({}, { 'mcp-param-unknown': 'x' })).toBeUndefined();
  });

  it.each([
    ['a missing header', { s: 'a' }, {}],
    ['a header without an argument', {}, { 'mcp-param-s': 'a' }],
    ['a header for null', { s: null }, { 'mcp-param-s': 'null' }],
    ['another value', { s: 'a' }, { 'mcp-param-s': 'A' }],
    ['another number', { i: 42 }, { 'mcp-param-i': '42.5' }],
    ['an integer beyond 2^53', { i: 2 ** 53 }, { 'mcp-param-i': '9007199254740992' }],
    ['hexadecimal', { i: 16 }, { 'mcp-param-i': '0x10' }],
    ['an empty number', { i: 0 }, { 'mcp-param-i': '' }],
    ['a boolean in capitals', { b: true }, { 'mcp-param-b': 'True' }],
    ['bad Base64', { s: 'a' }, { 'mcp-param-s': '=?base64?YQ?=' }],
  ])('disagree on %s', (_what, args, headers) => {
    expect(check(args, headers as Record<string, string>)).toMatch(/^header Mcp-Param-/);
  });
});
