import { connect } from 'node:net';
import { NEVER } from 'rxjs';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silent } from '../../src/host/log.ts';
import { Handles } from '../../src/host/routes/handles.ts';
import { Aggregate } from '../../src/host/server/aggregate.ts';
import { Bindings } from '../../src/host/server/bindings.ts';
import { cursors } from '../../src/host/server/cursor.ts';
import { mcpPath, openLocalServer, type LocalServer } from '../../src/host/server/listener.ts';
import { naming } from '../../src/host/server/names.ts';
import { modern, raw } from '../support/host/agent.ts';

let server: LocalServer;
let pool: Pool;
let token: string;
let endpoint: { readonly mcpUrl: string; readonly mcpToken: string };
beforeAll(async () => {
  const bindings = new Bindings();
  token = bindings.admit('a', 'agent');
  const table = () => new Map();
  const options = { table, naming, handles: new Handles(), cursors: cursors(), listDeadlineMs: 1_000 };
  const aggregate = new Aggregate({ ...options, onRejected: () => undefined, withheld: () => undefined });
  server = await openLocalServer({ aggregate, bindings, changes: NEVER, version: '1', port: 0, log: silent });
  endpoint = { mcpUrl: server.url, mcpToken: token };
  pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: 8 });
});
afterAll(async () => {
  await pool.destroy();
  await server.close(0);
});

interface Cell {
  readonly host: string;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly method: string;
  readonly type: string;
}

const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** The status of one request with exactly these headers. */
async function ask({ host, origin, authorization, method, type }: Cell, path = mcpPath): Promise<number> {
  const headers = {
    ...{ host, 'content-type': type, accept: 'application/json, text/event-stream' },
    ...(origin === undefined ? {} : { origin }),
    ...(authorization === undefined ? {} : { authorization }),
  };
  const sent = ['GET', 'DELETE'].includes(method) ? null : body;
  const reply = await pool.request({ path, method: method as 'POST', headers, body: sent });
  await reply.body.dump();
  return reply.statusCode;
}

test('of all combinations of host, origin, bearer, method and type only the allowed ones get in', async () => {
  const { port } = server;
  const good = `Bearer ${token}`;
  const hosts = [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `rebind.evil:${port}`,
    `127.0.0.1:${port}@evil`,
    `localhost.:${port}`,
    '127.0.0.1',
  ];
  const origins = [undefined, 'https://evil.example', 'null', `http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const tokens = [good, undefined, 'Bearer ', `Bearer ${token.slice(1)}`, `Bearer ${token}x`, `Basic ${token}`];
  const methods = ['POST', 'GET', 'DELETE', 'OPTIONS'];
  const types = ['application/json', 'text/plain', 'application/json; charset=utf-8'];
  const cells = hosts.flatMap((host) => origins.flatMap((origin) => tokens.flatMap((authorization) => methods.flatMap((method) => types.map((type) => ({ host, origin, authorization, method, type })))))); // prettier-ignore
  const passed: Cell[] = [];
  for (let at = 0; at < cells.length; at += 40) {
    const some = cells.slice(at, at + 40);
    (await Promise.all(some.map((cell) => ask(cell)))).forEach(
      (status, index) => status < 300 && passed.push(some[index] as Cell),
    );
  }
  expect(cells.length).toBe(2_160);
  const own = [undefined, `http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const json = types.filter((type) => type !== 'text/plain');
  const allowed = hosts
    .slice(0, 2)
    .flatMap((host) =>
      own.flatMap((origin) => json.map((type) => ({ host, origin, authorization: good, method: 'POST', type }))),
    );
  expect(passed).toEqual(allowed);
});

test('a refusal names no method of another site, and its body does not tell tokens apart', async () => {
  const short = await raw({ ...endpoint, mcpToken: 'x' }, body);
  const near = await raw({ ...endpoint, mcpToken: token.slice(0, -1) }, body);
  expect([short.status, short.text]).toEqual([near.status, near.text]);
  expect(short.headers['www-authenticate']).toBe('Bearer');
  expect(Object.keys(short.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('two hosts in one request are refused', async () => {
  const host = `127.0.0.1:${server.port}`;
  const lines = [`POST ${mcpPath} HTTP/1.1`, `Host: ${host}`, `Host: ${host}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body]; // prettier-ignore
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(lines.join('\r\n')));
    socket.once('data', (data) => (resolve(data.toString()), socket.destroy()));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

test.each<[string, () => Promise<{ readonly status: number; readonly text: string }>, number, number]>([
  ['a body above the limit', () => raw(endpoint, 'x'.repeat(1_048_577)), 413, -32600],
  ['bytes that are not UTF-8', () => raw(endpoint, Buffer.from([0x22, 0xff, 0x22])), 400, -32700],
  ['a batch', () => raw(endpoint, `[${body}]`), 400, -32600],
  ['a name twice', () => raw(endpoint, body.replace('{', '{"id":1,')), 400, -32600],
  ['a response', () => raw(endpoint, '{"jsonrpc":"2.0","id":1,"result":{}}'), 400, -32600],
  ['an unknown method', () => modern(endpoint, 'resources/list'), 404, -32601],
  ['initialize in an envelope', () => modern(endpoint, 'initialize'), 404, -32601],
  ['another version', () => raw(endpoint, body, { 'mcp-protocol-version': '2031-01-01' }), 400, -32022],
  [
    'a header that differs from the body',
    () => raw(endpoint, body, { 'mcp-protocol-version': '2026-07-28' }),
    400,
    -32602,
  ],
])('%s is answered from the table', async (_, send, status, code) => {
  const answer = await send();
  expect([answer.status, (JSON.parse(answer.text) as { error: { code: number } }).error.code]).toEqual([status, code]);
});

test('another path is not there, whoever asks', async () => {
  const cell = {
    host: `127.0.0.1:${server.port}`,
    origin: undefined,
    authorization: `Bearer ${token}`,
    method: 'POST',
    type: 'application/json',
  };
  expect(await Promise.all(['/', '/mcp', `${mcpPath}/`, `${mcpPath}x`].map((path) => ask(cell, path)))).toEqual([
    404, 404, 404, 404,
  ]);
});

test('a bearer that is withdrawn ends what its agent waits for', async () => {
  const bindings = new Bindings();
  const given = bindings.admit('b', 'agent');
  const binding = bindings.of(`Bearer ${given}`);
  bindings.revoke('b');
  expect(binding?.revoked.aborted).toBe(true);
  expect(bindings.of(`Bearer ${given}`)).toBeUndefined();
});
