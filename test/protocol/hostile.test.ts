/** Servers that answer outside the protocol: every one ends as a failure at once, nothing stays open, nothing grows. */
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { createModernClient, limits, type ModernClient } from '../../src/protocol/index.ts';
import { failureOf, openPair, quick, valueOf } from '../support/protocol/client.ts';
import { event, json, postOver, result, stream, text } from '../support/protocol/peer.ts';

const call = { name: 't', bindings: [], args: undefined };
const done = (id: unknown): object => result(id, text('é𝕏 done'));

const refused = { jsonrpc: '2.0', id: 1, error: { code: -33001, message: 'authorize' } };

describe('an answer outside the protocol fails at once', () => {
  it.each([
    ['202 without a body', 202, {}, ''],
    ['204', 204, {}, ''],
    ['an empty body', 200, { 'content-type': 'application/json' }, ''],
    ['a page', 200, { 'content-type': 'text/html' }, '<html>'],
    ['bad JSON', 200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0",'],
    ['a batch', 200, { 'content-type': 'application/json' }, '[]'],
    ['another id', 200, { 'content-type': 'application/json' }, JSON.stringify(done(999))],
    ['the id as text', 200, { 'content-type': 'application/json' }, JSON.stringify(done('1'))],
    ['no id', 200, { 'content-type': 'application/json' }, JSON.stringify(done(undefined))],
    ['a request', 200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    [
      'deep JSON',
      200,
      { 'content-type': 'application/json' },
      `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(90)}${']'.repeat(90)}}`,
    ],
    ['invalid UTF-8', 200, { 'content-type': 'application/json' }, Buffer.from([0x7b, 0xff, 0x7d])],
    [
      'gzip that nobody asked for',
      200,
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      JSON.stringify(done(1)),
    ],
    ['a redirect', 307, { location: 'https://elsewhere.example/' }, ''],
    ['an error on a redirect', 307, { 'content-type': 'application/json', location: '/' }, JSON.stringify(refused)],
    ['a stream that ends empty', 200, { 'content-type': 'text/event-stream' }, ''],
    ['a stream without the answer', 200, { 'content-type': 'text/event-stream' }, ': nothing\n\n'],
    ['an event that is no JSON', 200, { 'content-type': 'text/event-stream' }, 'data: {\n\n'],
    [
      'an answer that no blank line ends',
      200,
      { 'content-type': 'text/event-stream' },
      `data: ${JSON.stringify(done(1))}`,
    ],
  ])('on %s', async (_what, status, headers, body) => {
    await using pair = await openPair(
      (_request, response) => void response.writeHead(status, headers as Record<string, string>).end(body),
    );
    const failure = failureOf(await pair.client.callTool(call));
    expect(failure).toMatchObject({ kind: 'protocol', code: undefined });
    expect(failure.message).not.toMatch(/html|elsewhere|jsonrpc/);
    expect(pair.peer.requests).toHaveLength(1);
  });
});

describe('a result outside the protocol', () => {
  it.each([
    ['no resultType', { ...text('x'), resultType: undefined }],
    ['input_required', { ...text('x'), resultType: 'input_required' }],
    ['an unknown resultType', { ...text('x'), resultType: 'later' }],
    ['no content', {}],
  ])('is a failure with %s', async (_what, members) => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, members)));
    expect(failureOf(await pair.client.callTool(call)).kind).toBe('protocol');
  });

  it.each([
    ['tools that are no list', { tools: {} }],
    ['a cursor that is a number', { tools: [], nextCursor: 7 }],
    ['an endless cursor', { tools: [], nextCursor: 'x'.repeat(9_000) }],
  ])('is a failure with %s, and never an empty list', async (_what, members) => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, members)));
    expect(failureOf(await pair.client.listAll()).kind).toBe('protocol');
  });
});

describe('a server that is slow', () => {
  it('to begin, to go on, or to end is a timeout', async () => {
    await using silent = await openPair(() => undefined, quick);
    expect(failureOf(await silent.client.callTool(call))).toMatchObject({ kind: 'timeout', mayHaveRun: true });
    await using stuck = await openPair((_request, response) => void stream(response).write(': one\n\n'), quick);
    expect(failureOf(await stuck.client.callTool(call)).kind).toBe('timeout');
    await using drip = await openPair(
      (_request, response) => {
        stream(response);
        const timer = setInterval(() => response.write(':\n'), 50);
        response.on('close', () => clearInterval(timer));
      },
      { ...quick, totalMs: 700 },
    );
    expect(failureOf(await drip.client.callTool(call)).kind).toBe('timeout');
    await drip.peer.requests[0]?.closedEarly;
  });
});

describe('a server that never stops', () => {
  const flood = (chunk: string, head: string, type: string) =>
    openPair((_request, response) => {
      response.writeHead(200, { 'content-type': type }).write(head);
      const more = (): void => void (response.destroyed || response.write(chunk, () => setImmediate(more)));
      more();
    });
  const block = 'x'.repeat(65_536);

  it.each([
    ['a body', 'application/json', '"', block],
    ['a line', 'text/event-stream', 'data: ', block],
    ['lines', 'text/event-stream', '', `data: ${block}\n`],
    ['comments', 'text/event-stream', '', `:${block}\n\n`],
    [
      'events',
      'text/event-stream',
      '',
      event({ jsonrpc: '2.0', method: 'notifications/message', params: { data: block } }),
    ],
  ])('sending %s is cut off at the limit', async (_what, type, head, chunk) => {
    await using pair = await flood(chunk, head, type);
    const before = process.memoryUsage().arrayBuffers;
    expect(failureOf(await pair.client.callTool(call)).kind).toBe('protocol');
    await pair.peer.requests[0]?.closedEarly;
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * limits.streamBytes);
  });

  it('is closed when its head alone says that it is no answer', async () => {
    await using pair = await openPair((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
    });
    expect(failureOf(await pair.client.callTool(call)).kind).toBe('protocol');
    await pair.peer.requests[0]?.closedEarly;
  });

  it('is refused by the length it announces, before it sends', async () => {
    await using pair = await openPair(
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': String(limits.resultBytes + 1) })
          .write('{'),
    );
    expect(failureOf(await pair.client.callTool(call)).message).toBe('the answer is larger than 8388608 bytes');
    await pair.peer.requests[0]?.closedEarly;
  });
});

describe('an event stream cut at any byte', () => {
  it('gives the answer when its event is complete, and a failure when it is not', async () => {
    const body = (id: unknown): Buffer =>
      Buffer.from(`: x\n\n${event({ jsonrpc: '2.0', method: 'notifications/x' })}${event(done(id))}`);
    let cut = 0;
    await using pair = await openPair(
      (request, response) =>
        void stream(response).write(body(request.body.id).subarray(0, cut), () => response.destroy()),
    );
    const whole = body(1).length;
    for (cut = whole - 60; cut < whole + 4; cut++) {
      const outcome = await pair.client.callTool(call);
      const complete = cut >= body(pair.peer.requests.at(-1)?.body.id).length;
      if (complete) expect(valueOf(outcome).text).toContain('é𝕏 done');
      else expect(failureOf(outcome)).toMatchObject({ mayHaveRun: true });
    }
  });

  it('gives the answer wherever it is split, with every line end', async () => {
    let [cut, end] = [0, '\n'];
    const body = (id: unknown): Buffer => Buffer.from(event(done(id)).replaceAll('\n', end));
    await using pair = await openPair((request, response) => {
      const bytes = body(request.body.id);
      stream(response).write(bytes.subarray(0, cut), () => setImmediate(() => response.end(bytes.subarray(cut))));
    });
    for (end of ['\n', '\r', '\r\n'])
      for (cut = 0; cut < body(100).length; cut += 2) valueOf(await pair.client.callTool(call));
    expect(pair.peer.requests.length).toBeGreaterThan(100);
  });
});

async function openRaw(
  answer: (socket: Socket) => void,
): Promise<{ client: ModernClient; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const client = createModernClient({
    post: postOver(agent),
    url,
    clientInfo: { name: 'd', version: '1' },
    connectorVersion: null,
    now: Date.now,
    deadlines: quick,
  });
  const close = async (): Promise<void> => {
    await agent.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return { client, close };
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
/** Written from RFC 9112: what a message must not be. */
const malformed: Readonly<Record<string, string>> = {
  'no HTTP at all': 'hello\r\n\r\n',
  'a bad version': 'HTTP/9.9 200 OK\r\n\r\n',
  'a bad status': 'HTTP/1.1 2x0 OK\r\n\r\n',
  'two different lengths': `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'length and chunks': `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a negative length': `${head}Content-Length: -1\r\n\r\n`,
  'a bad chunk size': `${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
  'a chunk that is too short': `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n0\r\n\r\n`,
  'a cut body': `${head}Content-Length: 100\r\n\r\n{"jsonrpc"`,
  'a space before the colon': `${head}Content-Length : 2\r\n\r\n{}`,
  'a null in a header': `${head}X: a\u0000b\r\nContent-Length: 2\r\n\r\n{}`,
  'only informational answers': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
  'headers without end': `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(5_000)}`,
  'an upgrade': 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
};

describe('a malformed HTTP message', () => {
  it.each(Object.entries(malformed))('that has %s is a failure', async (_what, message) => {
    const { client, close } = await openRaw((socket) => void socket.end(message));
    const failure = failureOf(await client.callTool(call));
    await close();
    expect(['unavailable', 'protocol', 'timeout']).toContain(failure.kind);
  });

  it('from nobody at all is a failure that nothing can have run', async () => {
    const { client, close } = await openRaw(() => undefined);
    await close();
    const post = postOver(new Agent());
    const unreachable = createModernClient({
      post,
      url: 'http://127.0.0.1:1/',
      clientInfo: { name: 'd', version: '1' },
      connectorVersion: null,
      now: Date.now,
    });
    expect(failureOf(await unreachable.callTool(call))).toMatchObject({ kind: 'unavailable', mayHaveRun: false });
    expect(failureOf(await client.callTool(call)).kind).toBe('unavailable');
  });
});
