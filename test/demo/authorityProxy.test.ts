import { once } from 'node:events';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

import { changeSettings, runAuthorityProxy } from '../../src/demo/index.ts';
import { closing, plainServer, temporaryDirectory } from '../support/demo.ts';

const SNAPSHOT = '/v1/connector-authorizations/snapshot';

/** A server that tells what it heard and, over WebSocket, echoes; behind the proxy. */
async function world(): Promise<{ url: string; directory: string }> {
  const { url: target, server } = await plainServer((incoming, response) => {
    incoming.pipe(
      response.writeHead(201, {
        'x-heard': `${incoming.method} ${incoming.url} ${incoming.headers.cookie ?? ''} ${incoming.headers.host ?? ''}`,
      }),
    );
  });
  const echo = new WebSocketServer({ server });
  echo.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  onTestFinished(() => echo.close());
  const directory = temporaryDirectory();
  return { url: closing(await runAuthorityProxy({ directory, target })).url, directory };
}

async function socketTo(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function echoed(socket: WebSocket, text: string): Promise<string> {
  const answer = once(socket, 'message');
  socket.send(text);
  return String((await answer)[0]);
}

describe('the proxy before the authority', () => {
  test('forwards method, path, cookie, status and body, and names the target as host', async () => {
    const { url } = await world();
    const reply = await request(`${url}/v1/x?y=1`, { method: 'POST', headers: { cookie: 'a=b' }, body: 'hello' });
    expect(reply.statusCode).toBe(201);
    expect(reply.headers['x-heard']).toMatch(/^POST \/v1\/x\?y=1 a=b 127\.0\.0\.1:\d+$/);
    expect(await reply.body.text()).toBe('hello');
  });

  test('loses snapshots and nothing else while told so', async () => {
    const { url, directory } = await world();
    await changeSettings(directory, 'proxy', { snapshot: false });
    const status = async (path: string): Promise<number> => {
      const reply = await request(`${url}${path}`);
      await reply.body.dump();
      return reply.statusCode;
    };
    expect([await status(SNAPSHOT), await status(`${SNAPSHOT}?a=1`), await status('/v1/other')]).toEqual([
      503, 503, 201,
    ]);
    await changeSettings(directory, 'proxy', { snapshot: true });
    expect(await status(SNAPSHOT)).toBe(201);
  });

  test('carries a WebSocket, cuts it when hints are off and refuses the next', async () => {
    const { url, directory } = await world();
    const socket = await socketTo(url);
    expect(await echoed(socket, 'ping')).toBe('ping');
    const closed = once(socket, 'close');
    await changeSettings(directory, 'proxy', { hints: false });
    await closed;
    await expect(socketTo(url)).rejects.toThrow('503');
    await changeSettings(directory, 'proxy', { hints: true });
    expect(await echoed(await socketTo(url), 'again')).toBe('again');
  });

  test('keeps a WebSocket open and says nothing when told to be silent', async () => {
    const { url, directory } = await world();
    await changeSettings(directory, 'proxy', { hints: 'silent' });
    const socket = await socketTo(url);
    const heard: unknown[] = [];
    socket.on('message', (data) => heard.push(data));
    socket.send('anybody?');
    await request(`${url}/v1/other`).then((reply) => reply.body.dump());
    expect([socket.readyState, heard]).toEqual([WebSocket.OPEN, []]);
  });

  test('answers 503 when the target is away', async () => {
    const { url } = closing(await runAuthorityProxy({ directory: temporaryDirectory(), target: 'http://127.0.0.1:1' }));
    const reply = await request(url);
    expect([reply.statusCode, await reply.body.json()]).toEqual([503, { error: 'unavailable' }]);
  });
});
