/** The gateway's door and the local server judge a request alike: statuses and codes of MCP 2026-07-28 and of the seed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  acceptsEvents,
  checkOrigin,
  checkRequest,
  type Checked,
  type Door,
  doorMethods,
  type HeaderFields,
  legacyMethods,
  limits,
  localMethods,
  McpError,
  methods,
  readCallParams,
  readListParams,
  type Request,
} from '../../src/protocol/index.ts';
import { corpora, corpusFiles, naughtyStrings } from '../support/protocol/corpora.ts';

const door: Door = { methods: doorMethods, connector: true };
const local: Door = { methods: localMethods, connector: false, legacyMethods };
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
  'sh.tutti/connectorVersion': '1.0.0',
};
const good = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'search', arguments: {}, _meta: meta } };
const fields = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'search',
  'tutti-connector-version': '1.0.0',
};

function judge(body: unknown, headers: HeaderFields = fields, at: Door = door, method = 'POST'): Checked {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return checkRequest({ method, headers, body: bytes }, at);
}
interface Told {
  readonly status: number;
  readonly id: unknown;
  readonly code: number;
  readonly data: unknown;
}
function told(checked: Checked): Told {
  if (checked.kind !== 'refused') throw new Error(`${checked.kind}, where a refusal was expected`);
  const { id, error } = JSON.parse(checked.answer.body) as { id: unknown; error: { code: number; data?: unknown } };
  return { status: checked.answer.status, id, code: error.code, data: error.data };
}
const withMeta = (changes: object): object => ({ ...good, params: { ...good.params, _meta: { ...meta, ...changes } } });
const named = (method: string): HeaderFields => ({ ...fields, 'mcp-method': method });

describe('a request in order', () => {
  it('is accepted with its envelope, and its params as they came', () => {
    const text =
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"search","arguments":{"z":9007199254740993,"a":1.0},"_meta":' +
      JSON.stringify(meta) +
      '}}';
    const checked = judge(text);
    expect(checked).toMatchObject({
      kind: 'request',
      era: 'modern',
      request: { id: '9007199254740993' },
      envelope: { connectorVersion: '1.0.0' },
    });
    const call = checked.kind === 'request' ? readCallParams(checked.request) : undefined;
    expect(call).toMatchObject({ name: 'search', args: { text: '{"z":9007199254740993,"a":1.0}' } });
  });

  it.each(['server/discover', 'tools/list'])('may be %s without a name', (method) => {
    expect(judge({ ...good, method, params: { _meta: meta } }, { ...named(method), 'mcp-name': undefined }).kind).toBe(
      'request',
    );
  });
});

describe('a request is refused by HTTP itself', () => {
  it.each(['GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'])('when it is %s', (method) => {
    const checked = judge('', fields, door, method);
    expect(told(checked).status).toBe(405);
    expect(checked.kind === 'refused' && checked.answer.headers['allow']).toBe('POST');
  });

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    [undefined, 415],
    ['application/json; charset=utf-8', 200],
    ['APPLICATION/JSON', 200],
  ])('with content type %s as %i', (type, status) => {
    const checked = judge(good, { ...fields, 'content-type': type });
    expect(checked.kind === 'refused' ? checked.answer.status : 200).toBe(status);
  });

  it('when it accepts neither, and when it is too large', () => {
    expect(told(judge(good, { ...fields, accept: 'text/html' })).status).toBe(406);
    expect(told(judge('x'.repeat(limits.requestBytes + 1))).status).toBe(413);
    expect(acceptsEvents({ accept: 'application/json' })).toBe(false);
    expect([fields, { accept: '*/*' }, {}].every(acceptsEvents)).toBe(true);
  });
});

describe('a message is refused', () => {
  it.each([
    ['bad JSON', '{', 400, -32700, null],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, -32700, null],
    ['depth', '['.repeat(65) + ']'.repeat(65), 400, -32700, null],
    ['a name given twice', '{"jsonrpc":"2.0","id":7,"id":8,"method":"m"}', 400, -32600, null],
    ['a batch', [good], 400, -32600, null],
    ['an empty batch', [], 400, -32600, null],
    ['a null id', { ...good, id: null }, 400, -32600, null],
    ['a response', { jsonrpc: '2.0', id: 7, result: {} }, 400, -32600, null],
    ['params that are a list', { ...good, params: [] }, 400, -32600, 7],
    ['an unknown member', { ...good, extra: 1 }, 400, -32600, 7],
    ['no _meta', { ...good, params: {} }, 400, -32602, 7],
    ['no params', { ...good, params: undefined }, 400, -32602, 7],
    ['no protocol version', withMeta({ 'io.modelcontextprotocol/protocolVersion': undefined }), 400, -32602, 7],
    ['no capabilities', withMeta({ 'io.modelcontextprotocol/clientCapabilities': undefined }), 400, -32602, 7],
    ['no connector version', withMeta({ 'sh.tutti/connectorVersion': undefined }), 400, -32602, 7],
    ['client info without a name', withMeta({ 'io.modelcontextprotocol/clientInfo': {} }), 400, -32602, 7],
    ['a progress token that is an object', withMeta({ progressToken: {} }), 400, -32602, 7],
    ['another connector version', withMeta({ 'sh.tutti/connectorVersion': '2.0.0' }), 400, -32020, 7],
    [
      'another version than its header',
      withMeta({ 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
      400,
      -32020,
      7,
    ],
    ['another name than its header', { ...good, params: { ...good.params, name: 'other' } }, 400, -32020, 7],
    ['another method than its header', { ...good, method: 'tools/list' }, 400, -32020, 7],
  ])('for %s', (_what, body, status, code, id) => {
    expect(told(judge(body))).toMatchObject({ status, code, id });
  });

  it.each(['mcp-protocol-version', 'mcp-method', 'mcp-name', 'tutti-connector-version'])(
    'without the header %s',
    (name) => {
      expect(told(judge(good, { ...fields, [name]: undefined }))).toMatchObject({ status: 400, code: -32020, id: 7 });
    },
  );

  it('for a version we do not speak, and names those we do', () => {
    const body = withMeta({ 'io.modelcontextprotocol/protocolVersion': '2099-01-01' });
    expect(told(judge(body, { ...fields, 'mcp-protocol-version': '2099-01-01' }))).toEqual({
      status: 400,
      code: -32022,
      id: 7,
      data: { supported: ['2026-07-28'], requested: '2099-01-01' },
    });
  });

  it.each([
    'subscriptions/listen',
    'ping',
    'initialize',
    'prompts/list',
    'resources/read',
    'tools/Call',
    'constructor',
    '__proto__',
  ])('for the method %s with 404', (method) => {
    expect(told(judge({ ...good, method }, named(method)))).toMatchObject({ status: 404, code: -32601, id: 7 });
  });

  it('of the initialize era, which is not served at the gateway, and is told the version that is', () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {} },
    };
    const headers = { 'content-type': 'application/json', accept: '*/*' };
    expect(told(judge(initialize, headers))).toEqual({
      status: 400,
      code: -32022,
      id: 0,
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    });
  });
});

describe('a notification', () => {
  it('is taken with 202 and an empty body', () => {
    const checked = judge({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(checked).toMatchObject({ kind: 'notification', answer: { status: 202, body: '' } });
  });
});

describe('the local server', () => {
  const legacy = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  it.each(['initialize', 'ping', 'tools/list', 'tools/call'])(
    'serves %s of the initialize era on the same address',
    (method) => {
      expect(judge({ jsonrpc: '2.0', id: 1, method, params: {} }, legacy, local)).toMatchObject({
        kind: 'request',
        era: 'legacy',
      });
    },
  );

  it('tells that era an unknown method in-band, and an unknown version with the list', () => {
    expect(told(judge({ jsonrpc: '2.0', id: 1, method: 'prompts/list' }, legacy, local))).toMatchObject({
      status: 200,
      code: -32601,
    });
    expect(
      told(judge({ jsonrpc: '2.0', id: 1, method: 'ping' }, { ...legacy, 'mcp-protocol-version': '1999-01-01' }, local))
        .data,
    ).toEqual({ supported: ['2026-07-28', '2025-11-25', '2025-06-18'], requested: '1999-01-01' });
  });

  it('never takes a modern header without an envelope for the era before', () => {
    expect(
      told(
        judge(
          { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
          { ...fields, 'mcp-method': 'tools/list' },
          local,
        ),
      ),
    ).toMatchObject({ status: 400, code: -32602 });
  });

  it('serves listen, and needs no connector version', () => {
    const listen = {
      ...good,
      method: methods.listen,
      params: { _meta: { ...meta, 'sh.tutti/connectorVersion': undefined } },
    };
    expect(judge(listen, { ...named(methods.listen), 'tutti-connector-version': undefined }, local).kind).toBe(
      'request',
    );
  });

  const allowed = { hosts: new Set(['127.0.0.1:8080', 'localhost:8080', '[::1]:8080']), origins: new Set<string>() };
  it.each([
    'rebind.evil:8080',
    '127.0.0.1:8080@evil',
    'localhost.:8080',
    '127.0.0.1',
    '127.0.0.1:80',
    '127.0.0.1:8080, evil',
    'LOCALHOST:8080',
    '',
    undefined,
  ])('refuses host %s', (host) => {
    expect(checkOrigin({ host }, allowed)?.status).toBe(403);
  });

  it('takes its own hosts without an origin, and no origin at all, not even null', () => {
    for (const host of allowed.hosts) expect(checkOrigin({ host }, allowed)).toBeUndefined();
    for (const origin of ['https://evil', 'null', 'http://127.0.0.1:8080', ''])
      expect(checkOrigin({ host: 'localhost:8080', origin }, allowed)?.status).toBe(403);
  });
});

const requestOf = (params: unknown): Request => {
  const checked = judge(
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params },
    { 'content-type': 'application/json' },
    local,
  );
  if (checked.kind !== 'request') throw new Error('refused');
  return checked.request;
};

describe('params', () => {
  it('of a list tell an absent cursor from an empty one', () => {
    expect(readListParams(requestOf({}))).toEqual({ cursor: undefined });
    expect(readListParams(requestOf({ cursor: '' }))).toEqual({ cursor: '' });
    for (const cursor of [7, null, 'x'.repeat(9_000)])
      expect(readListParams(requestOf({ cursor }))).toMatchObject({ code: -32602, httpStatus: 200 });
  });

  it('of a call need a name, and an object where there are arguments', () => {
    for (const params of [
      {},
      { name: '' },
      { name: 7 },
      { name: 'x'.repeat(129) },
      { name: 't', arguments: [] },
      { name: 't', arguments: null },
    ])
      expect(readCallParams(requestOf(params))).toBeInstanceOf(McpError);
    expect(readCallParams(requestOf({ name: 't' }))).toEqual({ name: 't', args: undefined, metaText: undefined });
  });
});

const known = new Set([-32700, -32600, -32602, -32020, -32022, -32601]);

/** Every answer is one the table knows: a well-formed error, nothing thrown, nothing polluted. */
function expectOrder(body: Uint8Array, at: Door): void {
  const checked = judge(body, fields, at);
  if (checked.kind === 'refused' && !known.has(told(checked).code)) throw new Error(`answered ${checked.answer.body}`);
  for (const name in {}) throw new Error(`every object now has ${name}`);
}

describe('bad input', () => {
  it(`from JSONTestSuite is answered in order (${corpora === undefined ? 'no corpora: 0' : 318} files)`, () => {
    for (const { bytes } of corpusFiles('json', 'test_parsing')) for (const at of [door, local]) expectOrder(bytes, at);
    const members = corpusFiles('json', 'test_parsing').map(({ bytes }) =>
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m","params":'), bytes, Buffer.from('}')]),
    );
    for (const body of members) for (const at of [door, local]) expectOrder(body, at);
  });

  it('of naughty strings in every place of a request is answered in order', () => {
    for (const naughty of naughtyStrings()) {
      const places = [
        { ...good, id: naughty },
        { ...good, method: naughty },
        { ...good, params: { ...good.params, name: naughty } },
        { ...good, [naughty]: 1 },
        { ...good, params: { _meta: { ...meta, [naughty]: naughty } } },
        withMeta({ 'sh.tutti/connectorVersion': naughty }),
      ];
      for (const place of places) for (const at of [door, local]) expectOrder(Buffer.from(JSON.stringify(place)), at);
    }
  });

  it('made from a good request by changing bytes is answered in order, ten thousand times', () => {
    const text = JSON.stringify(good);
    const change = fc.tuple(fc.nat(text.length - 1), fc.nat(4), fc.uint8Array({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        let body = Buffer.from(text);
        for (const [at, cut, put] of changes)
          body = Buffer.concat([body.subarray(0, at), put, body.subarray(at + cut)]);
        expectOrder(body, door);
      }),
      { numRuns: 10_000 },
    );
  });
});
