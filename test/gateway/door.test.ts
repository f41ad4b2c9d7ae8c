import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';

import { ANN, ask, callOf, META, resultTo, scripted, text, world } from '../support/gateway.ts';
import type { Question } from '../support/gateway.ts';

const body = (message: object): Question => ({ body: JSON.stringify(message) });
const list = (params: object, more: object = {}): Question =>
  body({ jsonrpc: '2.0', id: 5, method: 'tools/list', params, ...more });

/** A door before an upstream that must not be contacted. */
async function closedDoor(): Promise<{ url: string; asked: readonly string[]; heard: readonly unknown[] }> {
  const { url, heard } = await scripted((one, response) => resultTo(one, response, text('ok')));
  const { url: door, authority } = await world(url);
  return { url: door, asked: authority.asked, heard };
}

describe('door 1', () => {
  test.each<readonly [string, Question, number, number]>([
    ['GET', { httpMethod: 'GET' }, 405, -32600],
    ['DELETE', { httpMethod: 'DELETE' }, 405, -32600],
    ['OPTIONS', { httpMethod: 'OPTIONS' }, 405, -32600],
    ['text/plain', { headers: { 'content-type': 'text/plain' } }, 415, -32600],
    ['an Accept without JSON', { headers: { accept: 'text/html' } }, 406, -32600],
    ['no session', { headers: { authorization: undefined } }, 401, -32600],
    ['two sessions', { headers: { cookie: 'dacapo_session=another-session-token' } }, 401, -32600],
    ['a session by Basic', { headers: { authorization: 'Basic YTpi' } }, 401, -32600],
    ['a foreign Host', { headers: { host: 'rebind.evil:80' } }, 403, -32600],
    ['a foreign Origin', { headers: { origin: 'https://evil' } }, 403, -32600],
    ['Origin null', { headers: { origin: 'null' } }, 403, -32600],
    ['no JSON', { body: '{' }, 400, -32700],
    ['invalid UTF-8', { body: Buffer.from([0x7b, 0xff, 0x7d]) }, 400, -32700],
    ['a depth of 65', { body: `${'['.repeat(65)}${']'.repeat(65)}` }, 400, -32700],
    ['a member named twice', { body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}' }, 400, -32600],
    ['a batch', { body: '[]' }, 400, -32600],
    ['a response', body({ jsonrpc: '2.0', id: 1, result: {} }), 400, -32600],
    ['id null', list({ _meta: META }, { id: null }), 400, -32600],
    ['no _meta', list({}), 400, -32602],
    [
      'no capabilities in _meta',
      list({ _meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': undefined } }),
      400,
      -32602,
    ],
    [
      'another version',
      {
        headers: { 'mcp-protocol-version': '2099-01-01' },
        meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
      },
      400,
      -32022,
    ],
    [
      'initialize',
      {
        ...body({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
        headers: { 'mcp-protocol-version': undefined },
      },
      400,
      -32022,
    ],
    ['no version header', { headers: { 'mcp-protocol-version': undefined } }, 400, -32020],
    ['a version header that differs', { headers: { 'mcp-protocol-version': '2025-11-25' } }, 400, -32020],
    ['no method header', { headers: { 'mcp-method': undefined } }, 400, -32020],
    ['a method header in capitals', { headers: { 'mcp-method': 'TOOLS/LIST' } }, 400, -32020],
    ['no name header', callOf('echo', {}, { headers: { 'mcp-name': undefined } }), 400, -32020],
    ['a name header that differs', callOf('echo', {}, { headers: { 'mcp-name': 'other' } }), 400, -32020],
    ['a name with bad Base64', callOf('echo', {}, { headers: { 'mcp-name': '=?base64?ZWNobw=?=' } }), 400, -32020],
    ['no connector version header', { headers: { 'tutti-connector-version': undefined } }, 400, -32020],
    ['a connector version that differs', { headers: { 'tutti-connector-version': '1.0.1' } }, 400, -32020],
    ['subscriptions/listen', { method: 'subscriptions/listen' }, 404, -32601],
    ['ping', { method: 'ping' }, 404, -32601],
    ['prompts/list', { method: 'prompts/list' }, 404, -32601],
    ['a cursor that is no text', { params: { cursor: 1 } }, 200, -32602],
    ['arguments that are no object', { method: 'tools/call', params: { name: 'echo', arguments: [] } }, 200, -32602],
    ['a body over 1 MiB', { body: `{"x":"${'x'.repeat(1_048_576)}"}` }, 413, -32600],
  ])('answers %s with the status and code of the table, without asking anybody', async (_, question, status, code) => {
    const { url, asked, heard } = await closedDoor();
    const told = await ask(url, question);
    expect([told.status, told.message.error?.code, asked, heard]).toEqual([status, code, [], []]);
  });

  test.each([
    ...['../../x', '..%2fdemo', 'a%2f..', 'a?b', 'demo/', 'a%00', '%D0%B0', '', '.', '..', '-x', 'x'.repeat(129)],
  ])('has no connector %j', async (id) => {
    const { url, asked } = await closedDoor();
    const { hostname, port } = new URL(url);
    const path = `/v1/connectors/${id}/mcp`;
    expect(
      await statusOf(
        hostname,
        Number(port),
        `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 0\r\n\r\n`,
      ),
    ).toBe(404);
    expect(asked).toEqual([]);
  });

  test.each([
    ['two Host headers', 'POST / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n'],
    ['two sessions', 'POST / HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n'],
    ['no Host', 'POST / HTTP/1.1\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a folded header', 'POST / HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n'],
    ['a space before the colon', 'POST / HTTP/1.1\r\nHost : HOST\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('answers %s with 400 and closes the connection', async (_, wire) => {
    const { hostname, port } = new URL((await closedDoor()).url);
    expect(await statusOf(hostname, Number(port), wire.replaceAll('HOST', `${hostname}:${port}`))).toBe(400);
  });

  test('answers 431 to more headers than it reads', async () => {
    const { url } = await closedDoor();
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, 'y']));
    expect((await ask(url, { headers: many })).status).toBe(431);
    expect((await ask(url, { headers: { 'x-large': 'y'.repeat(20_000) } })).status).toBe(431);
  });

  test('takes a notification with 202 and an empty body', async () => {
    const { url, asked } = await closedDoor();
    const told = await ask(url, body({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }));
    expect([told.status, told.text, asked]).toEqual([202, '', []]);
  });

  test('repeats the id of a request exactly, also one above 2^53', async () => {
    const { url } = await closedDoor();
    const wire = JSON.stringify({ jsonrpc: '2.0', id: 'ID', method: 'server/discover', params: { _meta: META } });
    const told = await ask(url, { method: 'server/discover', body: wire.replace('"ID"', '9007199254740993') });
    expect(told.text).toContain('"id":9007199254740993,');
  });

  test('answers server/discover from the authority alone: its name, tools, one version, nothing to keep', async () => {
    const { url, asked, heard } = await closedDoor();
    const { result } = (await ask(url, { method: 'server/discover' })).message;
    expect(result).toMatchObject({
      ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0 },
      cacheScope: 'private',
    });
    expect([asked, heard]).toEqual([['probe'], []]);
  });

  test('takes the session as a cookie too, and ignores session ids', async () => {
    const { url } = await closedDoor();
    const headers = {
      authorization: undefined,
      cookie: `a=b; dacapo_session=${ANN}`,
      'mcp-session-id': 'x',
      'last-event-id': '1',
    };
    const told = await ask(url, { headers });
    expect([told.status, told.headers['mcp-session-id'], told.headers['access-control-allow-origin']]).toEqual([
      200,
      undefined,
      undefined,
    ]);
  });

  test('asks the authority once for each method', async () => {
    const { url, asked } = await closedDoor();
    await ask(url, { method: 'server/discover' });
    await ask(url);
    await ask(url, callOf('echo'));
    expect(asked).toEqual(['probe', 'list', 'call echo']);
  });
});

/** Status of the answer to raw bytes, once the server has closed; 0 when it closed without one. */
function statusOf(host: string, port: number, wire: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, host, () => socket.write(wire));
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)));
    socket.on('error', reject);
  });
}
