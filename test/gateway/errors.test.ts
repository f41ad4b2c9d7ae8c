import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';

import { ask, BOB, callOf, CREDENTIAL, errorTo, json, resultTo, scripted, text, world } from '../support/gateway.ts';
import type { Heard } from '../support/gateway.ts';

type Answer = (heard: Heard, response: ServerResponse) => void;
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end('<html>no</html>');
const raw =
  (body: string, type = 'application/json'): Answer =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': type }).end(body);
const rpc =
  (code: number, httpStatus = 200): Answer =>
  (heard, response) =>
    errorTo(heard, response, httpStatus, { code, message: 'said by the upstream', data: { n: 1 } });
const result =
  (value: object): Answer =>
  (heard, response) =>
    resultTo(heard, response, value);

const silence: Answer = () => {};

/** What a caller is told and what is reported when the upstream answers a call so. */
async function outcomeOf(
  answer: Answer,
): Promise<readonly [status: number, code: number | undefined, outcome: string | undefined]> {
  const { url } = await scripted(answer);
  // Only silence is measured in time; two shared cores may be slow at anything else.
  const { url: door, authority } = await world(url, { limits: answer === silence ? { firstByteMs: 300 } : {} });
  const told = await ask(door, callOf('echo'));
  while (authority.reports.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return [told.status, told.message.error?.code, authority.reports[0]?.outcome];
}

describe('an upstream that fails', () => {
  test.each<readonly [string, Answer, readonly [number, number | undefined, string]]>([
    ['refuses our credential (401)', status(401), [428, -33002, 'upstream_refused']],
    ['refuses our credential (403, JSON-RPC)', rpc(-32000, 403), [428, -33002, 'upstream_refused']],
    ['is broken', status(500), [503, -33003, 'upstream_unavailable']],
    ['is broken, with a JSON-RPC body', rpc(-32603, 503), [503, -33003, 'upstream_unavailable']],
    ['hangs up', (_, response) => void response.destroy(), [503, -33003, 'upstream_unavailable']],
    ['does not answer', silence, [504, -33004, 'upstream_timeout']],
    ['says that its own upstream timed out', status(504), [504, -33004, 'upstream_timeout']],
    ['asks to wait', status(429, { 'retry-after': '7' }), [429, -33005, 'upstream_limited']],
    ['redirects', status(307, { location: 'http://127.0.0.1:1/' }), [502, -33006, 'upstream_protocol']],
    ['is not there', status(404), [502, -33006, 'upstream_protocol']],
    ['answers no JSON', raw('no'), [502, -33006, 'upstream_protocol']],
    ['answers a page', raw('<html>', 'text/html'), [502, -33006, 'upstream_protocol']],
    [
      'answers another id',
      raw('{"jsonrpc":"2.0","id":99,"result":{"resultType":"complete","content":[]}}'),
      [502, -33006, 'upstream_protocol'],
    ],
    ['answers a batch', raw('[]'), [502, -33006, 'upstream_protocol']],
    ['answers nothing', status(202), [502, -33006, 'upstream_protocol']],
    ['ends its stream early', raw(': hello\n\n', 'text/event-stream'), [502, -33006, 'upstream_protocol']],
    ['answers too much', raw(`"${'x'.repeat(9_000_000)}"`), [502, -33006, 'upstream_protocol']],
    ['asks for input', result({ resultType: 'input_required', inputRequests: {} }), [502, -33006, 'upstream_protocol']],
    ['says no result type', result({ resultType: undefined, content: [] }), [502, -33006, 'upstream_protocol']],
    ['answers a result without content', result({}), [502, -33006, 'upstream_protocol']],
    ['speaks of authorization (-33001)', rpc(-33001), [502, -33006, 'upstream_protocol']],
    ['speaks of authorization (-33002, 428)', rpc(-33002, 428), [502, -33006, 'upstream_protocol']],
    ['speaks of our limits', rpc(-33005), [502, -33006, 'upstream_protocol']],
    ['speaks of our headers', rpc(-32020, 400), [502, -33006, 'upstream_protocol']],
    ['wants a capability', rpc(-32021, 400), [502, -33006, 'upstream_protocol']],
    ['wants another version', rpc(-32022, 400), [502, -33006, 'upstream_protocol']],
    ['wants a URL opened', rpc(-32042), [502, -33006, 'upstream_protocol']],
    ['has an error of its own', rpc(-32602), [200, -32602, 'rpc_error']],
    ['has an error of its own, by status too', rpc(4711, 400), [200, 4711, 'rpc_error']],
    ['has a tool that fails', result({ ...text('broke'), isError: true }), [200, undefined, 'tool_error']],
    ['has a tool that works', result(text('ok')), [200, undefined, 'succeeded']],
  ])('and %s is told and reported as what it is', async (_, answer, expected) => {
    expect(await outcomeOf(answer)).toEqual(expected);
  });

  test('passes the message and data of its own errors unchanged', async () => {
    const { url } = await scripted((heard, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          `{"jsonrpc":"2.0","id":${String(heard.body.id)},"error":{"code":7,"message":"m","data":{"n": 9007199254740993}}}`,
        ),
    );
    const told = await ask((await world(url)).url, callOf('echo'));
    expect(told.text).toContain('"message":"m","data":{"n": 9007199254740993}');
  });

  test('that is not there at all is unavailable', async () => {
    const { url, authority } = await world('http://127.0.0.1:1/mcp');
    expect(await ask(url, callOf('echo'))).toMatchObject({ status: 503, message: { error: { code: -33003 } } });
    expect(await authority.reported('upstream_unavailable')).toBeDefined();
  });

  test('hears no second request after a redirect', async () => {
    const away = await scripted((heard, response) => resultTo(heard, response, text('stolen')));
    const { url } = await scripted((_, response) => void response.writeHead(302, { location: away.url }).end());
    await ask((await world(url)).url, callOf('echo'));
    expect(away.heard).toEqual([]);
  });

  test.each([
    ['7', '7'],
    ['0', '1'],
    ['-1', undefined],
    ['99999999999', '3600'],
    ['soon', undefined],
  ])('and says Retry-After %s makes us say %s', async (said, expected) => {
    const { url } = await scripted(status(429, { 'retry-after': said }));
    expect((await ask((await world(url)).url, callOf('echo'))).headers['retry-after']).toBe(expected);
  });

  test('refusing a credential without having been sent one is no matter of authorization', async () => {
    const { url } = await scripted(status(401));
    const { url: door } = await world(url, { injection: { kind: 'none' }, credential: '' });
    expect((await ask(door, callOf('echo'))).message.error?.code).toBe(-33006);
  });
});

describe('before the upstream', () => {
  test('no connection is 428 and -33001, an expired one 428 and -33002, and nothing is sent', async () => {
    const { url, heard } = await scripted((one, response) => resultTo(one, response, text('ok')));
    const { url: door, authority } = await world(url);
    const bob = { headers: { authorization: `Bearer ${BOB}` } };
    expect(await ask(door, bob)).toMatchObject({ status: 428, message: { id: 1, error: { code: -33001 } } });
    authority.connections.set('1/demo', { credential: CREDENTIAL, version: 1, state: 'reauth_required' });
    for (const question of [callOf('echo'), {}, { method: 'server/discover' }])
      expect(await ask(door, question)).toMatchObject({ status: 428, message: { id: 1, error: { code: -33002 } } });
    expect([heard, authority.reports]).toEqual([[], []]);
  });

  test('an unknown connector is 404, another release 409, an unknown session 401 with a challenge', async () => {
    const { url: door, gateway } = await world('http://127.0.0.1:1/mcp');
    expect((await ask(`${gateway.url}/v1/connectors/other/mcp`)).status).toBe(404);
    const other = { headers: { 'tutti-connector-version': '2.0.0' }, meta: { 'sh.tutti/connectorVersion': '2.0.0' } };
    expect((await ask(door, other)).status).toBe(409);
    const stranger = await ask(door, { headers: { authorization: 'Bearer nobody-knows-this-token' } });
    expect([stranger.status, stranger.headers['www-authenticate'], stranger.message.id]).toEqual([401, 'Bearer', 1]);
  });

  test('an authority that is away is 503 and -33003 with a time to wait, never a word about authorization', async () => {
    const { url: door, authority } = await world('http://127.0.0.1:1/mcp');
    const away = { outcome: 'unavailable', message: 'secret detail', retryAfterMs: 1500 } as const;
    authority.listTools = () => Promise.resolve(away);
    const told = await ask(door);
    expect([told.status, told.message.error?.code, told.headers['retry-after'], told.text.includes('secret')]).toEqual([
      503,
      -33003,
      '2',
      false,
    ]);
  });

  test('a refused credential withdraws the connection: the next call is refused without the upstream', async () => {
    const { url, heard } = await scripted((_, response) => json(response, 401, {}));
    const { url: door, authority } = await world(url);
    await ask(door, callOf('echo'));
    await authority.reported('upstream_refused');
    const before = heard.length;
    expect((await ask(door, callOf('echo'))).message.error?.code).toBe(-33002);
    expect(heard.length).toBe(before);
  });
});
