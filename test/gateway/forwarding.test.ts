import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { request } from 'undici';

import { gatewayLimits } from '../../src/gateway/index.ts';
import { ANN, ask, BOB, callOf, CREDENTIAL, META, resultTo, scripted, text, tool, world } from '../support/gateway.ts';
import type { Heard, Script } from '../support/gateway.ts';

const ok: Script = (heard, response) => resultTo(heard, response, text('ok'));
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const calls = (heard: readonly Heard[]): readonly Heard[] => heard.filter(({ body }) => body.method === 'tools/call');

describe('what goes to an upstream', () => {
  test('is a modern request of our own: headers from the body, its name, no capabilities, the credential where the binding says', async () => {
    const { url, heard } = await scripted(ok);
    await ask((await world(url)).url, callOf('écho', { a: 1 }, { headers: { 'mcp-name': '=?base64?w6ljaG8=?=' } }));
    expect(calls(heard)).toEqual([]);
    await ask((await world(url)).url, callOf('echo', { a: 1 }));
    const [call] = calls(heard);
    expect(call?.headers).toMatchObject({
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-protocol-version': '2026-07-28',
    });
    expect(call?.headers).toMatchObject({ authorization: `Bearer ${CREDENTIAL}`, 'accept-encoding': 'identity' });
    expect(call?.body.params?.['_meta']).toMatchObject({ 'io.modelcontextprotocol/clientCapabilities': {} });
  });

  test("never holds the caller's session, cookies, connector version, or headers that speak of a principal", async () => {
    const { url, heard } = await scripted(ok);
    const headers = {
      authorization: undefined,
      cookie: `dacapo_session=${ANN}; other=1`,
      'x-auth-principal': 'root',
      x_auth_sign: 'y',
      'x-forwarded-for': '1.1.1.1',
    };
    await ask((await world(url)).url, callOf('echo', {}, { headers }));
    const wire = JSON.stringify(heard);
    expect(
      [ANN, 'dacapo_session', 'connectorVersion', 'tutti', 'x-auth', 'x_auth', 'forwarded'].filter((word) =>
        wire.includes(word),
      ),
    ).toEqual([]);
  });

  test('carries arguments as they were written, and attached keys that are nobody else’s', async () => {
    const { url, heard } = await scripted(ok);
    const args = '{ "n": 9007199254740993, "z":1.0, "a":{"__proto__":1} }';
    const meta = {
      ...META,
      traceparent: '00-1',
      vendor: { a: 1 },
      progressToken: 7,
      'io.modelcontextprotocol/logLevel': 'debug',
    };
    const params = `{"name":"echo","arguments":${args},"_meta":${JSON.stringify(meta)}}`;
    await ask(
      (await world(url)).url,
      callOf('echo', {}, { body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}` }),
    );
    const [call] = calls(heard);
    expect(call?.text).toContain(`"arguments":${args}`);
    expect(call?.body.params?.['_meta']).toMatchObject({ traceparent: '00-1', vendor: { a: 1 }, progressToken: 7 });
    expect(call?.text).not.toContain('logLevel');
  });

  test('goes with the credential in the query where the binding says so', async () => {
    const { url, heard } = await scripted(ok);
    const { url: door } = await world(`${url}?v=1`, { injection: { kind: 'query', name: 'key' } });
    await ask(door, callOf('echo'));
    expect(calls(heard)[0]?.url).toBe(`/mcp?v=1&key=${encodeURIComponent(CREDENTIAL)}`);
  });

  test.each(['host', 'content-length', 'transfer-encoding', 'mcp-name', 'connection'])(
    'is not sent when a binding would put the credential into %s',
    async (name) => {
      const { url, heard } = await scripted(ok);
      const { url: door } = await world(url, { injection: { kind: 'header', name, prefix: '' } });
      expect([(await ask(door)).message.error?.code, heard]).toEqual([-33006, []]);
    },
  );

  test('is not sent to a host that the binding does not allow, nor to a private one that it does not claim', async () => {
    const { url, heard } = await scripted(ok);
    const { url: door, authority } = await world(url);
    const { version, upstream } = authority.bindings.get('demo') ?? { version: '', upstream: undefined };
    for (const change of [{ allowedHosts: ['other'] }, { privateNetwork: false }, { allowedHosts: ['127.0.0.1'] }]) {
      if (upstream !== undefined) authority.bindings.set('demo', { version, upstream: { ...upstream, ...change } });
      expect((await ask(door)).message.error?.code).toBe(-33006);
    }
    expect(heard).toEqual([]);
  });

  test('is not sent when a public name resolves to this machine, also only the second time', async () => {
    const { url, heard } = await scripted(ok);
    const { port } = new URL(url);
    const answers = [['93.184.216.34', '127.0.0.1'], ['127.0.0.1'], ['::ffff:127.0.0.1'], ['169.254.169.254']];
    const resolve = ((_host, _options, answer) => answer(null, (answers.shift() ?? []).map((address) => ({ address, family: 4 })))) satisfies NonNullable<Parameters<typeof world>[1]>['gateway'] extends infer G ? G extends { resolve?: infer R } ? R : never : never; // prettier-ignore
    const { url: door, authority } = await world(url, { gateway: { resolve } });
    const binding = authority.bindings.get('demo');
    const endpoint = `https://rebind.test:${port}/mcp`;
    if (binding)
      authority.bindings.set('demo', {
        ...binding,
        upstream: { ...binding.upstream, endpoint, allowedHosts: [`rebind.test:${port}`], privateNetwork: false },
      });
    for (let i = 0; i < 4; i++) expect((await ask(door)).message.error?.code).toBe(-33006);
    expect(heard).toEqual([]);
  });
});

describe('what comes back', () => {
  test('is the result as it was written: digits, order and members nobody knows', async () => {
    const raw =
      '{"resultType":"complete", "z":1,"content":[{"type":"vendor","x":9007199254740993}],"structuredContent":{"b":1,"a":1.0}}';
    const { url } = await scripted(
      (heard, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"jsonrpc":"2.0","id":${String(heard.body.id)},"result":${raw}}`),
    );
    expect((await ask((await world(url)).url, callOf('echo'))).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${raw}}`);
  });

  test('is every tool as it was defined, without those that no caller could call', async () => {
    const odd = { ...tool('odd'), vendor: { $schema: 'x', big: 1 }, annotations: { custom: true } };
    const broken = tool('broken', { a: { type: 'number', 'x-mcp-header': 'A' } });
    const { url } = await scripted(ok, [odd, broken, tool('__proto__')]);
    const told = await ask((await world(url)).url);
    expect(told.message.result?.['tools']).toEqual([odd, tool('__proto__')]);
    expect(told.message.result).toMatchObject({ ttlMs: 0, cacheScope: 'private', resultType: 'complete' });
  });

  test.each([
    ['a result', (secret: string) => text(`you sent ${secret}`)],
    [
      'a name',
      (secret: string) => ({ ...text(''), structuredContent: { [secret]: Buffer.from(secret).toString('base64') } }),
    ],
  ])('has the credential taken out of %s', async (_, result) => {
    const { url } = await scripted((heard, response) => resultTo(heard, response, result(CREDENTIAL)));
    const told = await ask((await world(url)).url, callOf('echo'));
    expect(told.text).toContain('[redacted]');
    expect(told.text).not.toContain(CREDENTIAL);
  });

  test('has the credential taken out of errors, progress and definitions', async () => {
    const { url } = await scripted(
      (heard, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const progress = {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 1, progress: 1, message: CREDENTIAL },
        };
        const error = {
          jsonrpc: '2.0',
          id: heard.body.id,
          error: { code: 1, message: CREDENTIAL, data: { k: CREDENTIAL } },
        };
        response.end(`data: ${JSON.stringify(progress)}\n\ndata: ${JSON.stringify(error)}\n\n`);
      },
      [{ ...tool('echo'), description: `Bearer ${CREDENTIAL}` }],
    );
    const { url: door } = await world(url);
    const texts = [(await ask(door)).text, (await ask(door, callOf('echo', {}, { meta: { progressToken: 1 } }))).text];
    expect(texts.map((said) => said.split('[redacted]').length - 1)).toEqual([1, 3]);
    expect(texts.join('')).not.toContain(CREDENTIAL);
  });

  test('names neither upstream, connection nor binding, whatever goes wrong', async () => {
    const { url } = await scripted(
      (_, response) => void response.writeHead(500, { 'x-upstream': 'canary' }).end('canary'),
    );
    const { url: door, authority } = await world(url);
    const told = [
      await ask(door, callOf('echo')),
      await ask(door),
      await ask(door, callOf('nothing')),
      await ask(door, { method: 'server/discover' }),
    ];
    const wire = JSON.stringify(told);
    const scope = authority.reports.map(({ callId }) => callId);
    expect(
      [new URL(url).host, CREDENTIAL, 'canary', 'contractScope', ...scope].filter((word) => wire.includes(word)),
    ).toEqual([]);
  });
});

describe('a stream', () => {
  const progress = (token: unknown, n: number): string =>
    `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${JSON.stringify(token)},"progress":${n}}}\n\n`;

  test('passes progress of this request as it comes, and nothing else, then the result and ends', async () => {
    let finish = (): void => {};
    const { url } = await scripted((heard, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `${progress('t', 1)}${progress('other', 9)}data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n`,
      );
      finish = () =>
        response.end(
          `${progress('t', 2)}data: {"jsonrpc":"2.0","id":${String(heard.body.id)},"result":{"resultType":"complete","content":[]}}\n\n`,
        );
    });
    const reply = await openCall((await world(url)).url, { progressToken: 't' });
    const chunks: string[] = [];
    reply.body.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    await until(() => chunks.join('').includes('"progress":1'));
    expect(chunks.join('')).not.toContain('result');
    finish();
    await once(reply.body, 'end');
    const all = chunks.join('');
    expect([all.match(/"progress":\d/g), all.includes('"id":1,"result"')]).toEqual([
      ['"progress":1', '"progress":2'],
      true,
    ]);
    expect(all).not.toMatch(/other|notifications\/message/);
  });

  test('is not begun when nothing comes before the result', async () => {
    const { url } = await scripted(
      (heard, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(
            `data: {"jsonrpc":"2.0","id":${String(heard.body.id)},"result":{"resultType":"complete","content":[]}}\n\n`,
          ),
    );
    expect((await ask((await world(url)).url, callOf('echo'))).headers['content-type']).toBe('application/json');
  });

  test('ends the upstream at once when the caller goes away, and gives every place back', async () => {
    let closed = false;
    const { url, heard } = await scripted((_, response, message) => {
      message.socket.on('close', () => (closed = true));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': waiting\n\n');
    });
    const { url: door, authority, gateway } = await world(url);
    const gone = new AbortController();
    const told = ask(door, callOf('echo', {}, { signal: gone.signal })).catch(() => 'gone');
    await until(() => calls(heard).length === 1);
    gone.abort();
    await Promise.all([told, until(() => closed), authority.reported('canceled')]);
    await until(() => gateway.underWay === 0);
    expect(closed).toBe(true);
  });

  test('reads an upstream no faster than its caller takes it', async () => {
    let sent = 0;
    const line = progress('t', 1).replace('}}', `,"message":"${'x'.repeat(60_000)}"}}`);
    const { url } = await scripted((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pump = (): void => {
        while (sent < 200 && response.write(line)) sent += 1;
        if (sent < 200) response.once('drain', () => ((sent += 1), pump()));
      };
      pump();
    });
    const reply = await openCall((await world(url)).url, { progressToken: 't' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sent).toBeLessThan(200);
    reply.body.on('error', () => {}).destroy();
  });

  test('that its caller does not read and does not leave gives every place back at the deadline', async () => {
    const line = progress('t', 1).replace('}}', `,"message":"${'x'.repeat(60_000)}"}}`);
    const { url } = await scripted((heard, response) => {
      if (!heard.text.includes('progressToken')) return resultTo(heard, response, text('ok'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pump = (): void => {
        while (response.write(line));
        response.once('drain', pump);
      };
      pump();
    });
    const { url: door, authority, gateway } = await world(url, { limits: { concurrency: 1, totalMs: 1_500 } });
    const reply = await openCall(door, { progressToken: 't' });
    expect((await ask(door, callOf('echo'))).status).toBe(429);
    await authority.reported('upstream_timeout');
    await until(() => gateway.underWay === 0);
    expect((await ask(door, callOf('echo'))).status).toBe(200);
    expect(reply.body.destroyed).toBe(false);
    reply.body.on('error', () => {}).destroy();
  });

  async function openCall(url: string, meta: object): ReturnType<typeof request> {
    const params = { name: 'echo', arguments: {}, _meta: { ...META, ...meta } };
    return request(url, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-name': 'echo' },
        ...{ authorization: `Bearer ${ANN}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
        'tutti-connector-version': '1.0.0',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
  }
});

describe('callers', () => {
  test('that all use id 1 never get each other’s results', async () => {
    const { url } = await scripted((heard, response) => {
      const said = JSON.stringify(heard.body.params?.['arguments']);
      setTimeout(
        () => resultTo(heard, response, text(`${said} ${heard.headers.authorization ?? ''}`)),
        Math.random() * 10,
      );
    });
    const { url: door, authority } = await world(url, { gateway: { limits: { rateBurst: 5000 } } });
    authority.connections.set('2/demo', { credential: 'key-of-bob', version: 1, state: 'connected' });
    const one = async (n: number): Promise<boolean> => {
      const [token, key] = n % 2 === 0 ? [ANN, '[redacted]'] : [BOB, '[redacted]'];
      const told = await ask(door, callOf('echo', { n }, { headers: { authorization: `Bearer ${token}` } }));
      return told.text.includes(`{\\"n\\":${n}} Bearer ${key}`);
    };
    const results: boolean[] = [];
    for (let round = 0; round < 6; round++)
      results.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => one(round * 50 + n)))));
    expect(results.every(Boolean)).toBe(true);
  });

  test('beyond their places are told to wait, and others are not', async () => {
    const held: (() => void)[] = [];
    const { url } = await scripted((heard, response) => held.push(() => resultTo(heard, response, text('ok'))));
    const { url: door, authority } = await world(url, { gateway: { limits: { perAccount: 2 } } });
    authority.connections.set('2/demo', { credential: 'key-of-bob', version: 1, state: 'connected' });
    const first = [ask(door, callOf('echo')), ask(door, callOf('echo'))];
    await until(() => held.length === 2);
    const third = await ask(door, callOf('echo'));
    expect([third.status, third.message.error?.code, third.headers['retry-after']]).toEqual([429, -33005, '1']);
    const other = ask(door, callOf('echo', {}, { headers: { authorization: `Bearer ${BOB}` } }));
    await until(() => held.length === 3);
    held.forEach((answer) => answer());
    expect((await Promise.all([...first, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await authority.reported('not_sent')).detail).toContain('this account');
  });

  test('of one account that hang, as many as it may make, leave the way to the upstream free for others', async () => {
    const held: (() => void)[] = [];
    const { url } = await scripted((heard, response) => {
      const answer = (): void => resultTo(heard, response, text('ok'));
      if (heard.headers.authorization === 'Bearer key-of-bob') answer();
      else held.push(answer);
    });
    const { url: door, authority } = await world(url);
    authority.connections.set('2/demo', { credential: 'key-of-bob', version: 1, state: 'connected' });
    const mine = Array.from({ length: gatewayLimits.perAccount }, () => ask(door, callOf('echo')));
    await until(() => held.length === mine.length);
    const other = await ask(door, callOf('echo', {}, { headers: { authorization: `Bearer ${BOB}` } }));
    expect(other.message.result).toMatchObject({ content: [{ text: 'ok' }] });
    held.forEach((answer) => answer());
    await Promise.all(mine);
  });

  test('of a session that asks too often are told when to come back', async () => {
    const { url } = await scripted(ok);
    const { url: door } = await world(url, { gateway: { limits: { rateBurst: 2, ratePerSecond: 1 } } });
    const told = [await ask(door), await ask(door), await ask(door, { id: 'mine' })];
    expect(told.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect([told[2]?.headers['retry-after'], told[2]?.message.id]).toEqual(['1', 'mine']);
  });

  test('reach a call’s upstream at most once, even when its connection breaks before an answer', async () => {
    const { url, heard } = await scripted((_, response) => void response.destroy());
    await ask((await world(url)).url, callOf('echo'));
    expect(calls(heard).length).toBe(1);
  });

  test('are spared an upstream that is down: it is asked no more until a probe is due', async () => {
    const { url, heard } = await scripted((_, response) => void response.writeHead(503).end());
    const { url: door } = await world(url);
    for (let i = 0; i < 12; i++) expect((await ask(door, callOf('echo'))).message.error?.code).toBe(-33003);
    expect(calls(heard).length).toBe(5);
    expect((await ask(door, callOf('echo'))).headers['retry-after']).toBe('10');
  });
});
