import fc from 'fast-check';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  checkHeaders,
  decodeHeaderValue,
  encodeHeaderValue,
  envelopeText,
  isReservedKey,
  limits,
  selfText,
} from '../../src/protocol/index.ts';
import { naughtyStrings } from '../support/protocol/corpora.ts';
import { json, openPeer, type Peer } from '../support/protocol/peer.ts';

describe('the Base64 sentinel', () => {
  it.each([
    ['plain text', 'document.search', 'document.search'],
    ['a space inside', 'a b', 'a b'],
    ['nothing', '', '=?base64??='],
    ['a space at the end', 'a ', '=?base64?YSA=?='],
    ['a tab', 'a\tb', '=?base64?YQli?='],
    ['a line end', 'a\r\nb', '=?base64?YQ0KYg==?='],
    ['beyond ASCII', 'é', '=?base64?w6k=?='],
    ['what looks encoded', '=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
    ['only the prefix', '=?base64?YQ==', '=?base64?YQ=='],
    ['the marker in capitals', '=?BASE64?YQ==?=', '=?BASE64?YQ==?='],
  ])('of %s', (_what, plain, encoded) => {
    expect(encodeHeaderValue(plain)).toBe(encoded);
    expect(decodeHeaderValue(encoded)).toBe(plain);
  });

  it.each([
    '=?base64?YQ=?=',
    '=?base64?YQ?=',
    '=?base64?Y Q==?=',
    '=?base64?_-8=?=',
    '=?base64?YR==?=',
    '=?base64?/w==?=',
    'é',
    'a\u0007',
  ])('is refused in %j', (header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });

  it('ignores whitespace around a value and takes an empty one', () => {
    expect(decodeHeaderValue(' \ta b\t ')).toBe('a b');
    expect(decodeHeaderValue('')).toBe('');
  });

  it('brings any text back, and refuses what UTF-8 or a header cannot carry', () => {
    const check = (plain: string): void => expect(decodeHeaderValue(encodeHeaderValue(plain) ?? '')).toBe(plain);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (plain) => void check(plain)));
    expect(encodeHeaderValue('\ud800')).toBeUndefined();
    expect(encodeHeaderValue('x'.repeat(limits.parameterBytes + 1))).toBeUndefined();
  });

  it('survives a real HTTP request for every naughty string', async () => {
    const peer = await openPeer((_request, response) => json(response, {}));
    const plain = naughtyStrings().filter((text) => encodeHeaderValue(text) !== undefined);
    for (const text of chunked(plain, 10)) await sendAsHeaders(peer, text);
    await peer.close();
    const received = peer.requests.flatMap(({ headers }) => Object.entries(headers));
    const decoded = received.filter(([name]) => name.startsWith('mcp-param-')).map(([, value]) => String(value));
    expect(decoded.map(decodeHeaderValue)).toEqual(plain);
  });
});

function chunked<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}

async function sendAsHeaders({ url }: Peer, plain: readonly string[]): Promise<void> {
  const headers = Object.fromEntries(plain.map((text, at) => [`mcp-param-${at}`, encodeHeaderValue(text) ?? '']));
  const { body } = await request(url, { method: 'POST', headers, body: '{}' });
  await body.dump();
}

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'sh.tutti/connectorVersion': '1.0.0' };
const claim = { method: 'tools/call', params: { name: 'a b', _meta: meta } };
const agreeing = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'a b',
  'tutti-connector-version': '1.0.0',
};
const checked = (changes: Readonly<Record<string, string | string[] | undefined>>): string | undefined =>
  checkHeaders({ ...agreeing, ...changes }, claim, { connector: true });

describe('headers and body', () => {
  it('agree when every value is the same, whitespace around it ignored', () => {
    expect(checked({})).toBeUndefined();
    expect(checked({ 'mcp-method': ' tools/call\t' })).toBeUndefined();
    expect(checked({ 'mcp-name': '=?base64?YSBi?=' })).toBeUndefined();
  });

  it.each([
    ['mcp-protocol-version', undefined, 'header MCP-Protocol-Version is missing'],
    ['mcp-protocol-version', '2025-11-25', 'header MCP-Protocol-Version differs from the body'],
    ['mcp-method', undefined, 'header Mcp-Method is missing'],
    ['mcp-method', 'TOOLS/CALL', 'header Mcp-Method differs from the body'],
    ['mcp-method', ['tools/call', 'tools/call'], 'header Mcp-Method differs from the body'],
    ['mcp-name', undefined, 'header Mcp-Name is missing'],
    ['mcp-name', 'A b', 'header Mcp-Name differs from the body'],
    ['mcp-name', '=?base64?YSBi=?=', 'header Mcp-Name is not validly encoded'],
    ['tutti-connector-version', undefined, 'header Tutti-Connector-Version is missing'],
    ['tutti-connector-version', '1.0.1', 'header Tutti-Connector-Version differs from the body'],
  ])('disagree when %s is %j', (name, value, reason) => {
    expect(checked({ [name]: value })).toBe(reason);
  });

  it('need no connector version where the endpoint pins none', () => {
    const headers = { ...agreeing, 'tutti-connector-version': undefined };
    expect(checkHeaders(headers, claim, { connector: false })).toBeUndefined();
  });
});

describe('the envelope', () => {
  const clientInfo = { name: 'dacapo', version: '0.1.0' };

  it('has exactly the keys of the seed', () => {
    expect(JSON.parse(envelopeText(selfText(clientInfo, '1.0.0')))).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
      'sh.tutti/connectorVersion': '1.0.0',
    });
  });

  it('carries trace context and foreign keys unchanged, and nothing that is reserved', () => {
    const carriedText =
      '{"traceparent":"00-a-b-01","com.example/n":9007199254740993,"progressToken":9,"sh.tutti/connectorVersion":"9","io.modelcontextprotocol/protocolVersion":"x"}';
    const made = envelopeText(selfText(clientInfo, null), { progressToken: 3, carriedText });
    expect(made).toContain('"com.example/n":9007199254740993');
    expect(JSON.parse(made)).toMatchObject({
      traceparent: '00-a-b-01',
      progressToken: 3,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    });
    expect(made).not.toContain('sh.tutti');
    expect(made.split('io.modelcontextprotocol/protocolVersion')).toHaveLength(2);
  });

  it('knows reserved prefixes by their second label', () => {
    expect(['io.modelcontextprotocol/x', 'dev.mcp/x', 'a.mcp.b/x'].every(isReservedKey)).toBe(true);
    expect(['sh.tutti/x', 'mcp/x', 'traceparent', 'com.example.mcp/x'].some(isReservedKey)).toBe(false);
  });
});
