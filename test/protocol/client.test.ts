/** Seed 1 "ModernStreamableHTTPClient": every bullet, against a real server on loopback. */
import { describe, expect, it } from 'vitest';
import { progressTokenOf } from '../support/protocol/progress.ts';
import { failureOf, openPair, quick, valueOf } from '../support/protocol/client.ts';
import { error, event, json, result, stream, text, tool } from '../support/protocol/peer.ts';
import { createModernClient, type ParameterBinding, parseJson, rejectionOf } from '../../src/protocol/index.ts';

const call = (name: string, args?: string, bindings: readonly ParameterBinding[] = []) => ({
  name,
  bindings,
  args: args === undefined ? undefined : parseJson(args),
});
const discovery = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' };

describe('every request', () => {
  it('is a new POST with its own id', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, { tools: [] })));
    for (let turn = 0; turn < 3; turn++) valueOf(await pair.client.listPage(undefined));
    expect(pair.peer.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
    expect(new Set(pair.peer.requests.map(({ body }) => body.id)).size).toBe(3);
  });

  it('carries the headers and the envelope of the seed, made from one value', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, text('ok'))));
    valueOf(await pair.client.callTool(call('document.search')));
    const [{ headers, body } = { headers: {}, body: {} }] = pair.peer.requests;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'document.search',
      'tutti-connector-version': '1.0.0',
    });
    expect(body.params?._meta).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'dacapo', version: '0.1.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
      'sh.tutti/connectorVersion': '1.0.0',
    });
  });

  it('never sends a session, a binding revision, a connection or a credential', async () => {
    await using pair = await openPair(({ body }, response) =>
      json(response, result(body.id, { tools: [] }), 200, { 'mcp-session-id': 's-1' }),
    );
    await pair.client.listPage(undefined);
    await pair.client.listPage(undefined);
    const names = pair.peer.requests.flatMap(({ headers }) => Object.keys(headers));
    expect(names.filter((name) => /session|cookie|authorization|binding|connection-id|last-event/.test(name))).toEqual(
      [],
    );
    expect(pair.peer.requests.every(({ method }) => method === 'POST')).toBe(true);
  });

  it('keeps arguments as they came, digits and order included', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, text('ok'))));
    let sent = '';
    const client = createModernClient({
      url: pair.peer.url,
      clientInfo: { name: 'd', version: '1' },
      connectorVersion: null,
      now: Date.now,
      post: (request) => ((sent = request.body), pair.peer.post(request)),
    });
    valueOf(await client.callTool(call('t', '{"z":9007199254740993,"a":1.0}')));
    expect(sent).toContain('"arguments":{"z":9007199254740993,"a":1.0}');
  });

  it('carries an agent’s trace context and never its reserved keys', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, text('ok'))));
    const metaText =
      '{"traceparent":"00-1-2-01","io.modelcontextprotocol/protocolVersion":"1999","progressToken":"theirs"}';
    valueOf(await pair.client.callTool(call('t'), { metaText }));
    expect(pair.peer.requests[0]?.body.params?._meta).toMatchObject({
      traceparent: '00-1-2-01',
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    });
    expect(pair.peer.requests[0]?.body.params?._meta).not.toHaveProperty('progressToken');
  });
});

describe('answers', () => {
  it('are read as JSON and as an event stream alike', async () => {
    await using pair = await openPair(({ body }, response, index) =>
      index === 0
        ? json(response, result(body.id, text('a')))
        : stream(response).end(event(result(body.id, text('a')))),
    );
    const [plain, streamed] = [await pair.client.callTool(call('t')), await pair.client.callTool(call('t'))];
    expect(valueOf(plain)).toEqual(valueOf(streamed));
  });

  it('return at the matching final response and close the stream that would stay open', async () => {
    await using pair = await openPair(
      ({ body }, response) => void stream(response).write(event(result(body.id, text('done')))),
    );
    expect(valueOf(await pair.client.callTool(call('t'))).isError).toBe(false);
    await pair.peer.requests[0]?.closedEarly;
  });

  it('ignore other ids, requests and comments on the stream, and take the first of two finals', async () => {
    await using pair = await openPair(({ body }, response) => {
      const events = [
        result(999, text('other')),
        { jsonrpc: '2.0', id: 1, method: 'roots/list' },
        result(body.id, text('first')),
        result(body.id, text('second')),
      ];
      stream(response).end(`: comment\n\n${events.map(event).join('')}`);
    });
    expect(valueOf(await pair.client.callTool(call('t'))).text).toContain('first');
  });

  it('pass results through as text, with 64-bit integers and unknown members', async () => {
    const raw =
      '{"resultType":"complete","content":[{"type":"hologram","depth":9007199254740993}],"zeta":1.0,"alpha":2}';
    await using pair = await openPair(({ body }, response) =>
      json(response, `{"jsonrpc":"2.0","id":${String(body.id)},"result":${raw}}`),
    );
    expect(valueOf(await pair.client.callTool(call('t'))).text).toBe(raw);
  });

  it('that break the protocol leave open whether the call ran, and those of a list do not', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, { content: 1 })));
    expect(failureOf(await pair.client.callTool(call('t')))).toMatchObject({ kind: 'protocol', mayHaveRun: true });
    expect(failureOf(await pair.client.listPage(undefined))).toMatchObject({ kind: 'protocol', mayHaveRun: false });
  });

  it('tell progress in order before the result, also the last one in the same chunk', async () => {
    await using pair = await openPair(({ body }, response) => {
      const progress = (value: number): string =>
        event({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: progressTokenOf(body), progress: value },
        });
      stream(response).end(progress(1) + progress(2) + event(result(body.id, text('ok'))));
    });
    const seen: unknown[] = [];
    valueOf(await pair.client.callTool({ ...call('t'), onProgress: ({ progress }) => void seen.push(progress) }));
    expect(seen).toEqual([1, 2]);
  });

  it('tell no progress of another token', async () => {
    await using pair = await openPair(
      ({ body }, response) =>
        void stream(response).end(
          event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'x', progress: 1 } }) +
            event(result(body.id, text('ok'))),
        ),
    );
    const seen: unknown[] = [];
    valueOf(await pair.client.callTool({ ...call('t'), onProgress: (params) => void seen.push(params) }));
    expect(seen).toEqual([]);
  });
});

describe('a connection', () => {
  it('is used again after a JSON answer', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, { tools: [] })));
    for (let turn = 0; turn < 20; turn++) valueOf(await pair.client.listPage(undefined));
    expect(pair.peer.connections).toBeLessThanOrEqual(2);
  });
});

describe('giving up', () => {
  it.each(['nothing', 'a stream', 'a body'])('after %s closes the response and sends nothing else', async (begun) => {
    const giveUp = new AbortController();
    await using pair = await openPair((_request, response) => {
      if (begun === 'a stream') stream(response).write(': working\n\n');
      if (begun === 'a body') response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc"');
      setTimeout(() => giveUp.abort(), 30);
    });
    const failure = failureOf(await pair.client.callTool(call('t'), { signal: giveUp.signal }));
    expect(failure).toMatchObject({ kind: 'aborted', mayHaveRun: true });
    await pair.peer.requests[0]?.closedEarly;
    expect(pair.peer.requests).toHaveLength(1);
  });

  it('before it began sends nothing at all', async () => {
    await using pair = await openPair(() => undefined);
    expect(failureOf(await pair.client.listAll({ signal: AbortSignal.abort() })).kind).toBe('aborted');
    expect(pair.peer.requests).toHaveLength(0);
  });
});

describe('errors', () => {
  it.each([
    [400, -32602, 'error'],
    [401, -33001, 'rejected'],
    [428, -33001, 'rejected'],
    [428, -33002, 'rejected'],
    [429, -33005, 'limited'],
    [502, -33006, 'protocol'],
    [503, -33003, 'unavailable'],
    [504, -33004, 'timeout'],
    [404, -32601, 'contract'],
  ])('keep the JSON-RPC body of a status %i: code %i is %s', async (status, code, kind) => {
    await using pair = await openPair(({ body }, response) =>
      json(response, error(body.id, code, { hint: 1 }), status, { 'retry-after': '7' }),
    );
    const failure = failureOf(await pair.client.callTool(call('t')));
    expect(failure).toMatchObject({
      kind,
      code,
      status,
      retryAfterMs: 7_000,
      error: { message: `code ${code}`, data: { hint: 1 } },
    });
    expect(pair.peer.requests).toHaveLength(1);
  });

  it('keep it with id null, in an event stream, and without a content type', async () => {
    await using pair = await openPair(({ body }, response, index) => {
      if (index === 0) json(response, error(null, -33002), 428);
      else if (index === 1) stream(response, 428).end(event(error(body.id, -33002)));
      else response.writeHead(428).end(JSON.stringify(error(body.id, -33002)));
    });
    for (let turn = 0; turn < 3; turn++) expect(rejectionOf(failureOf(await pair.client.discover()))).toBe(-33002);
  });

  it.each([
    ['no body', ''],
    ['a page', '<html>'],
    ['an error of another request', JSON.stringify(error(999, -33003))],
    ['too much', 'x'.repeat(2_000_000)],
    ['bytes that are no text', Buffer.from([0xff])],
  ])('take a 428 with %s as a rejection', async (_what, body) => {
    await using pair = await openPair(
      (_request, response) => void response.writeHead(428, { 'content-type': 'text/html' }).end(body),
    );
    expect(rejectionOf(failureOf(await pair.client.callTool(call('t'))))).toBe(428);
  });

  it('take a 428 whose body never ends as a rejection, not as a timeout', async () => {
    await using pair = await openPair((_request, response) => void response.writeHead(428).write('{'), quick);
    expect(failureOf(await pair.client.discover()).kind).toBe('rejected');
  });

  it('do not see an authorization failure in the text of a result', async () => {
    await using pair = await openPair(({ body }, response) =>
      json(response, result(body.id, { ...text('-33002 reauth_required'), isError: true })),
    );
    expect(valueOf(await pair.client.callTool(call('t'))).isError).toBe(true);
  });
});

describe('cursors', () => {
  it('are absent on the first page, empty when empty, and sent as they came', async () => {
    const cursors = ['', 'b/é=', undefined];
    await using pair = await openPair(({ body }, response, index) =>
      json(response, result(body.id, { tools: [tool(`t${index}`)], nextCursor: cursors[index] })),
    );
    expect(valueOf(await pair.client.listAll()).tools.map(({ name }) => name)).toEqual(['t0', 't1', 't2']);
    expect(pair.peer.requests.map(({ body }) => body.params?.['cursor'])).toEqual([undefined, '', 'b/é=']);
    expect(pair.peer.requests[0]?.body.params).not.toHaveProperty('cursor');
  });

  it('that are null end the list', async () => {
    await using pair = await openPair(({ body }, response) =>
      json(response, result(body.id, { tools: [], nextCursor: null })),
    );
    expect(valueOf(await pair.client.listAll())).toEqual({ tools: [], excluded: [], pages: 1 });
  });

  it('that repeat end in an error, not in a loop', async () => {
    await using pair = await openPair(({ body }, response, index) =>
      json(response, result(body.id, { tools: [tool(`t${index}`)], nextCursor: 'again' })),
    );
    expect(failureOf(await pair.client.listAll()).message).toBe('the list repeats a cursor');
    expect(pair.peer.requests).toHaveLength(2);
  });

  it('end at page 64, and tools at 512', async () => {
    await using pair = await openPair(({ body }, response, index) =>
      json(response, result(body.id, { tools: [], nextCursor: String(index) })),
    );
    expect(failureOf(await pair.client.listAll()).message).toBe('the list has more than 64 pages');
    expect(pair.peer.requests).toHaveLength(64);
    const many = Array.from({ length: 513 }, (_, index) => tool(`t${index}`));
    await using flood = await openPair(({ body }, response) => json(response, result(body.id, { tools: many })));
    expect(failureOf(await flood.client.listAll()).message).toBe('the list has more than 512 tools');
  });
});

describe('tools', () => {
  it('are read anew every time: nothing is cached, whatever ttlMs says', async () => {
    await using pair = await openPair(({ body }, response, index) =>
      json(response, result(body.id, { tools: [tool(`t${index}`)], ttlMs: 999_999, cacheScope: 'public' })),
    );
    const names = [await pair.client.listAll(), await pair.client.listAll()].map(
      (list) => valueOf(list).tools[0]?.name,
    );
    expect(names).toEqual(['t0', 't1']);
  });

  it('keep the text of their definition, unknown members and order included', async () => {
    const raw =
      '{"z":1.0,"name":"t","execution":{"x":9007199254740993},"inputSchema":{"type":"object","$schema":"s","required":["b","a"]}}';
    await using pair = await openPair(({ body }, response) =>
      json(response, `{"jsonrpc":"2.0","id":${String(body.id)},"result":{"resultType":"complete","tools":[ ${raw} ]}}`),
    );
    expect(valueOf(await pair.client.listAll()).tools.map(({ text: definition }) => definition)).toEqual([raw]);
  });

  it('that are malformed are left out and told, and the others stay', async () => {
    const bad = [
      7,
      {},
      { name: 'no-schema' },
      tool('x'.repeat(129)),
      tool('bad', { a: { type: 'number', 'x-mcp-header': 'A' } }),
      tool('ok'),
    ];
    await using pair = await openPair(({ body }, response) =>
      json(response, result(body.id, { tools: [tool('ok'), ...bad] })),
    );
    const { tools, excluded } = valueOf(await pair.client.listAll());
    expect(tools.map(({ name }) => name)).toEqual(['ok']);
    expect(excluded).toHaveLength(6);
    expect(excluded.at(-1)).toEqual({ name: 'ok', reason: 'another tool of this list has the name' });
  });

  it('are called by the contract that travels with the call, with no table between calls', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, text('ok'))));
    const binding = (header: string): ParameterBinding => ({ header, path: ['a'], type: 'string' });
    await Promise.all([
      pair.client.callTool(call('t', '{"a":"x"}', [binding('Old')])),
      pair.client.callTool(call('t', '{"a":"y"}', [binding('New')])),
    ]);
    const sent = pair.peer.requests.map(({ headers }) => [headers['mcp-param-old'], headers['mcp-param-new']]);
    expect(sent).toHaveLength(2);
    expect(sent).toEqual(
      expect.arrayContaining([
        ['x', undefined],
        [undefined, 'y'],
      ]),
    );
  });

  it('with names beyond ASCII are named by the sentinel', async () => {
    await using pair = await openPair(({ body }, response) => json(response, result(body.id, text('ok'))));
    valueOf(await pair.client.callTool(call('é ')));
    expect(pair.peer.requests[0]?.headers['mcp-name']).toBe('=?base64?w6kg?=');
  });

  it('whose argument cannot be a header are refused before anything is sent', async () => {
    await using pair = await openPair(() => undefined);
    const failure = failureOf(
      await pair.client.callTool(call('t', '{"a":9007199254740993}', [{ header: 'A', path: ['a'], type: 'integer' }])),
    );
    expect(failure).toMatchObject({ kind: 'error', code: -32602, mayHaveRun: false });
    expect(pair.peer.requests).toHaveLength(0);
  });

  it('answered -32020 are listed once, called once more by the new contract, and no third time', async () => {
    const current = tool('t', { a: { type: 'string', 'x-mcp-header': 'A' } });
    await using pair = await openPair(({ body }, response) => {
      if (body.method === 'tools/list') json(response, result(body.id, { tools: [current] }));
      else json(response, error(body.id, -32020), 400);
    });
    expect(failureOf(await pair.client.callTool(call('t', '{"a":"x"}')))).toMatchObject({
      kind: 'contract',
      code: -32020,
    });
    expect(pair.peer.requests.map(({ body, headers }) => [body.method, headers['mcp-param-a']])).toEqual([
      ['tools/call', undefined],
      ['tools/list', undefined],
      ['tools/call', 'x'],
    ]);
  });

  it('answered -32020 that are not listed any more are not called again', async () => {
    await using pair = await openPair(({ body }, response) =>
      body.method === 'tools/list'
        ? json(response, result(body.id, { tools: [] }))
        : json(response, error(body.id, -32020), 400),
    );
    expect(failureOf(await pair.client.callTool(call('t'))).kind).toBe('contract');
    expect(pair.peer.requests).toHaveLength(2);
  });
});

describe('discover', () => {
  it('is validated', async () => {
    const answers = [
      discovery,
      { ...discovery, supportedVersions: ['2025-11-25'] },
      { ...discovery, capabilities: {} },
      { ...discovery, resultType: 'input_required' },
      { ...discovery, resultType: undefined },
      {},
    ];
    await using pair = await openPair(({ body }, response, index) =>
      json(response, result(body.id, answers[index] ?? {})),
    );
    expect(valueOf(await pair.client.discover())).toMatchObject({
      supportedVersions: ['2026-07-28'],
      listChanged: false,
    });
    for (let turn = 1; turn < answers.length; turn++)
      expect(failureOf(await pair.client.discover()).kind).toBe('contract');
  });

  it('answered -32022 is tried once more when the server does support the version', async () => {
    const supported = [['2026-07-28'], ['2026-07-28'], ['2099-01-01']];
    await using pair = await openPair(({ body }, response, index) =>
      json(response, error(body.id, -32022, { supported: supported[index] }), 400),
    );
    expect(failureOf(await pair.client.discover())).toMatchObject({ kind: 'contract', code: -32022 });
    expect(failureOf(await pair.client.discover()).kind).toBe('contract');
    expect(pair.peer.requests).toHaveLength(3);
  });

  it('never leads to initialize, whatever is answered', async () => {
    await using pair = await openPair(({ body }, response, index) =>
      json(response, error(body.id, [-32601, -32600, -33001][index] ?? 0), 400),
    );
    for (let turn = 0; turn < 3; turn++) failureOf(await pair.client.discover());
    expect(pair.peer.requests.map(({ body }) => body.method)).toEqual([
      'server/discover',
      'server/discover',
      'server/discover',
    ]);
  });
});

describe('a connection that the server has just closed', () => {
  it('is tried again for a list, and never for a call', async () => {
    await using pair = await openPair(({ body }, response, index) =>
      index % 2 === 0 ? void response.destroy() : json(response, result(body.id, { tools: [] })),
    );
    valueOf(await pair.client.listPage(undefined));
    expect(failureOf(await pair.client.callTool(call('t')))).toMatchObject({ kind: 'unavailable', mayHaveRun: true });
    expect(pair.peer.requests.map(({ body }) => body.method)).toEqual(['tools/list', 'tools/list', 'tools/call']);
  });
});
