import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';

import { ask, callOf, resultTo, scripted, text, world } from '../support/gateway.ts';
import type { Script } from '../support/gateway.ts';

const slowly: Script = (heard, response) => void setTimeout(() => resultTo(heard, response, text('late')), 300);
const patient = { gateway: { limits: { patienceMs: 20 } } };

describe('a caller that is kept waiting', () => {
  test('is answered with a stream that is alive before the result is there', async () => {
    const { url } = await scripted(slowly);
    const told = await ask((await world(url, patient)).url, callOf('echo'));
    expect([told.status, told.headers['content-type'], told.text.startsWith(':\n\n')]).toEqual([
      200,
      'text/event-stream',
      true,
    ]);
    expect(told.message).toMatchObject({ id: 1, result: text('late') });
  });

  test('is told an error in that stream by its code, with the time to wait that no header can say any more', async () => {
    const { url } = await scripted(
      (_, response) => void setTimeout(() => response.writeHead(429, { 'retry-after': '7' }).end(), 300),
    );
    const told = await ask((await world(url, patient)).url, callOf('echo'));
    expect([told.status, told.message.error]).toMatchObject([200, { code: -33005, data: { retryAfterMs: 7000 } }]);
  });

  test('and takes no event streams gets JSON however long it takes', async () => {
    const { url } = await scripted(slowly);
    const told = await ask(
      (await world(url, patient)).url,
      callOf('echo', {}, { headers: { accept: 'application/json' } }),
    );
    expect([told.headers['content-type'], told.message.result]).toMatchObject(['application/json', text('late')]);
  });
});

describe('connections', () => {
  test('of an upstream that answers with streams are kept for the next call', async () => {
    const sockets = new Set<unknown>();
    const { url } = await scripted((heard, response, message) => {
      sockets.add(message.socket);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `data: {"jsonrpc":"2.0","id":${String(heard.body.id)},"result":{"resultType":"complete","content":[]}}\n\n`,
      );
      setImmediate(() => response.end());
    });
    const { url: door } = await world(url);
    for (let i = 0; i < 10; i++) expect((await ask(door, callOf('echo'))).status).toBe(200);
    // A call may come before the stream of the one before has quite ended.
    expect(sockets.size).toBeLessThan(5);
  });

  test('of an upstream that never ends its stream are closed', async () => {
    let closed = false;
    const { url } = await scripted((heard, response) => {
      response.on('close', () => (closed = true));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `data: {"jsonrpc":"2.0","id":${String(heard.body.id)},"result":{"resultType":"complete","content":[]}}\n\n`,
      );
    });
    expect((await ask((await world(url)).url, callOf('echo'))).status).toBe(200);
    while (!closed) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(closed).toBe(true);
  });

  test('whose request never comes are closed', async () => {
    const { gateway } = await world('http://127.0.0.1:1/mcp', {
      gateway: { limits: { headersMs: 200, requestMs: 400 } },
    });
    const { hostname, port } = new URL(gateway.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let said = '';
      const socket = connect(Number(port), hostname, () =>
        socket.write('POST /v1/connectors/demo/mcp HTTP/1.1\r\nHost: '),
      );
      socket.on('data', (chunk) => (said += chunk.toString())).on('error', reject);
      socket.on('close', () => resolve(said));
    });
    expect(answer).toContain('408');
  });
});

describe('the end', () => {
  test('waits for a call under way, and takes none after it', async () => {
    const { url } = await scripted(slowly);
    const { url: door, gateway } = await world(url);
    const told = ask(door, callOf('echo'));
    while (gateway.underWay === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await gateway.close();
    expect((await told).message.result).toMatchObject(text('late'));
    await expect(ask(door)).rejects.toThrow();
  });
});

describe('a report', () => {
  test('that nobody takes delays no answer', async () => {
    const { url } = await scripted((heard, response) => resultTo(heard, response, text('ok')));
    const { url: door, authority, gateway } = await world(url);
    authority.audit = () => new Promise(() => {});
    for (let i = 0; i < 20; i++) expect((await ask(door, callOf('echo'))).status).toBe(200);
    expect(gateway.audit.waiting).toBeGreaterThan(0);
  });
});
