import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createModernClient } from '../../src/protocol/client.ts';
import { openDeadline } from '../../src/protocol/deadline.ts';
import { exchange } from '../../src/protocol/exchange.ts';
import { makeId } from '../../src/protocol/jsonrpc.ts';
import { Ending, type Stop } from '../../src/protocol/stop.ts';
import { postStreamed, type Reading } from '../../src/protocol/streamedPost.ts';

function stopBy(signal: AbortSignal): Stop {
  const ending = new Ending();
  const end = (): void => ending.end(signal.reason as Error);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return ending;
}

/** A server that answers as a test says, and a pool of so many connections to it. */
async function served(answer: (response: ServerResponse) => void, connections = 4, reading: Partial<Reading> = {}) {
  const sockets = new Set<unknown>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections });
  onTestFinished(async () => {
    await pool.destroy();
    server.closeAllConnections();
    server.close();
  });
  const postUntil = (stop: Stop) => postStreamed(pool, { path: '/', headers: {}, body: 'x' }, { ...reading, stop });
  const post = (signal = new AbortController().signal) => postUntil(stopBy(signal));
  return { post, postUntil, sockets };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

test('an answer comes with its status and headers, and connections serve again', async () => {
  const { post, sockets } = await served((response) => void response.writeHead(418, { 'X-A': 'b' }).end('tea'));
  for (let turn = 0; turn < 8; turn++) {
    const { status, headers, body, destroy } = await post();
    expect([status, headers['x-a'], await textOf(body)]).toEqual([418, 'b', 'tea']);
    destroy();
  }
  // The next may begin in the very turn in which the pool learns that the first is done.
  expect(sockets.size).toBeLessThan(3);
});

test('chunks come before the answer is complete, and what is not wanted any more is closed', async () => {
  const closed = new Promise<void>((resolve) => {
    void served((response) => void response.on('close', resolve).write('one')).then(async ({ post }) => {
      const { body, destroy } = await post();
      const first = await body[Symbol.asyncIterator]().next();
      expect(Buffer.from(first.value as Uint8Array).toString()).toBe('one');
      destroy();
    });
  });
  await closed;
});

test('giving up rejects at once: before the headers, while a body is read, and while no connection is free', async () => {
  const { post } = await served((response) => void response.write('one'), 1);
  const stop = new AbortController();
  const { body } = await post(stop.signal);
  const waiting = new AbortController();
  const second = post(waiting.signal);
  waiting.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  const reading = textOf(body);
  stop.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  await expect(post(stop.signal)).rejects.toThrow('enough');
  const { post: silent } = await served(() => undefined);
  await expect(silent(AbortSignal.timeout(50))).rejects.toThrow();
});

test('what was given up while no connection was free is never sent', async () => {
  const held: ServerResponse[] = [];
  const { post, postUntil } = await served((response) => void held.push(response), 1);
  const first = post();
  const stop = new Ending();
  const given = postUntil(stop);
  const third = post();
  stop.end(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  await expect.poll(() => held.length).toBe(1);
  held[0]!.end('one');
  await textOf((await first).body);
  await expect.poll(() => held.length).toBe(2);
  held[1]!.end('three');
  expect([await textOf((await third).body), held.length]).toEqual(['three', 2]);
});

describe('a read that waits for a reader who never takes what it got', () => {
  const never = { rest: () => new Promise<void>(() => undefined) };
  const open = (response: ServerResponse): void => void response.write('one');
  const complete = (response: ServerResponse): void => void response.end('one');

  test.each([
    ['an answer that goes on', open],
    ['an answer that is complete', complete],
  ])('rejects when %s is given up', async (_, answer) => {
    const { postUntil } = await served(answer, 1, never);
    const stop = new Ending();
    const { body } = await postUntil(stop);
    const reading = textOf(body);
    await new Promise((resolve) => setTimeout(resolve, 50));
    stop.end(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  test.each([
    ['an answer that goes on', open, 0],
    ['one that may end by itself', open, 60_000],
    ['an answer that is complete', complete, 0],
  ])('rejects when %s is not wanted any more', async (_, answer, lingerMs) => {
    const { post } = await served(answer, 1, { ...never, lingerMs });
    const { body, destroy } = await post();
    const reading = textOf(body);
    await new Promise((resolve) => setTimeout(resolve, 50));
    destroy();
    await expect(reading).rejects.toThrow('no longer wanted');
  });

  test('ends an exchange at its deadline', async () => {
    const { postUntil } = await served(open, 1, never);
    const deadline = openDeadline({ firstByteMs: 5_000, gapMs: 5_000, totalMs: 300 });
    const outgoing = { id: makeId(1), method: 'x', headers: {}, body: '' };
    const exchanged = await exchange(({ stop }) => postUntil(stop), outgoing, { url: 'http://unused.example', deadline }); // prettier-ignore
    expect(exchanged).toMatchObject({ kind: 'broken', why: 'timeout' });
  });
});

test('an answer that breaks off rejects, and so does a server that is not there', async () => {
  const { post } = await served((response) => void response.write('one', () => response.destroy()));
  await expect(post().then(({ body }) => textOf(body))).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  const nobody = new Pool('http://127.0.0.1:1');
  const refused = postStreamed(
    nobody,
    { path: '/', headers: {}, body: '' },
    { stop: stopBy(new AbortController().signal) },
  );
  await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await nobody.destroy();
});

test('a stream that would stay open is closed when its answer is there', async () => {
  const closed: unknown[] = [];
  const { post } = await served((response) => {
    response.on('close', () => closed.push(response.writableFinished));
    const result = { resultType: 'complete', content: [] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`);
  });
  const clientInfo = { name: 'test', version: '1' };
  const options = { url: 'http://unused.example/', clientInfo, connectorVersion: null, now: () => 0 };
  const client = createModernClient({ ...options, post: () => post() });
  expect(await client.callTool({ name: 't', bindings: [], args: undefined })).toMatchObject({ ok: true });
  await expect.poll(() => closed).toEqual([false]);
});

test('an answer that is larger than it may be breaks off', async () => {
  const { post } = await served((response) => void response.end(Buffer.alloc(70_000, 97)), 4, { maxBytes: 65_536 });
  await expect(post().then(({ body }) => textOf(body))).rejects.toThrow(RangeError);
});

test('an answer that is not wanted any more may end by itself a while, and is cut after it, or when it goes on', async () => {
  const ended: string[] = [];
  const kept = await served(
    (response) => {
      response.on('close', () => ended.push(response.writableFinished ? 'by itself' : 'cut'));
      response.write('one');
      setTimeout(() => response.end(), 20);
    },
    1,
    { lingerMs: 2_000 },
  );
  for (let turn = 0; turn < 2; turn++) {
    const { body, destroy } = await kept.post();
    destroy();
    await expect(textOf(body)).rejects.toThrow('no longer wanted');
  }
  await expect.poll(() => ended).toEqual(['by itself', 'by itself']);
  expect(kept.sockets.size).toBe(1);
  const endless = (chunk: Buffer) => (response: ServerResponse) => {
    response.on('close', () => ended.push('cut'));
    const timer = setInterval(() => response.write(chunk), 1);
    response.on('close', () => clearInterval(timer));
  };
  for (const [chunk, lingerMs] of [
    [Buffer.from('a'), 100],
    [Buffer.alloc(65_536), 60_000],
  ] as const) {
    // prettier-ignore
    const { post } = await served(endless(chunk), 1, { lingerMs });
    (await post()).destroy();
  }
  await expect.poll(() => ended.slice(2)).toEqual(['cut', 'cut']);
});

test('a reader that rests is not sent more than it is held for, and gets all of it in the end', async () => {
  let written = 0;
  const { post } = await served((response) => {
    const more = (): void => {
      while (written < 64 && response.write(Buffer.alloc(1_048_576, 97))) written++;
      if (written >= 64) response.end();
      else (written++, response.once('drain', more));
    };
    more();
  });
  const { body } = await post();
  for (let before = -1; before !== written; await new Promise((resolve) => setTimeout(resolve, 400))) before = written;
  expect(written).toBeLessThan(32);
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.byteLength;
  expect(bytes).toBeGreaterThan(63 * 1_048_576);
});
