import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';

import { plainServer } from '../support/demo.ts';
import { ask, callOf, json, text, tool, world } from '../support/gateway.ts';

interface Step {
  readonly verb: string | undefined;
  readonly method: string | undefined;
  readonly session: unknown;
  readonly version: unknown;
}
type Answer = (response: ServerResponse, id: unknown, params: unknown) => void;

const WELCOME = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'old', version: '1' },
};
const result =
  (value: object, headers: Record<string, string> = {}): Answer =>
  (response, id) => {
    for (const [name, said] of Object.entries(headers)) response.setHeader(name, said);
    json(response, 200, { jsonrpc: '2.0', id, result: value });
  };
const status =
  (code: number): Answer =>
  (response) =>
    void response.writeHead(code).end();

/** A server of the older era that answers each method as told, and every step that it heard. */
async function oldServer(answers: Readonly<Record<string, Answer>>): Promise<{ url: string; steps: Step[] }> {
  let opened = 0;
  const standard: Readonly<Record<string, Answer>> = {
    initialize: (response, id) => result(WELCOME, { 'mcp-session-id': `s-${++opened}` })(response, id, undefined),
    'notifications/initialized': status(202),
    'tools/list': result({ tools: [tool('echo')] }),
    'tools/call': result(text('ok')),
    DELETE: status(200),
  };
  const steps: Step[] = [];
  const { url } = await plainServer((message: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as {
        id?: unknown;
        method?: string;
        params?: unknown;
      };
      const { 'mcp-session-id': session, 'mcp-protocol-version': version } = message.headers;
      steps.push({ verb: message.method, method: body.method, session, version });
      const method = body.method ?? message.method ?? '';
      ({ ...standard, ...answers })[method]?.(response, body.id, body.params);
    });
  });
  return { url: `${url}/mcp`, steps };
}

const callThrough = async (answers: Readonly<Record<string, Answer>>) => {
  const { url, steps } = await oldServer(answers);
  const { url: door, authority } = await world(url, { mode: 'legacy' });
  await ask(door);
  const told = await ask(door, callOf('echo'));
  // The list was the first session; its end may come late, because nobody waits for it.
  const ofCall = (): Step[] => steps.filter(({ session }) => session === 's-2');
  return { told, steps, ofCall, authority };
};

describe('one call of an upstream of the older era', () => {
  test('opens a session, says so, asks within it and deletes it', async () => {
    const { told, ofCall } = await callThrough({});
    while (ofCall().length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    const within = { session: 's-2', version: '2025-11-25' };
    expect(told.message.result).toMatchObject({ ...text('ok'), resultType: 'complete' });
    expect(ofCall()).toEqual([
      { verb: 'POST', method: 'notifications/initialized', ...within },
      { verb: 'POST', method: 'tools/call', ...within },
      { verb: 'DELETE', method: undefined, ...within },
    ]);
  });

  test('is made once, also when the server answers with a number that is about headers in another era', async () => {
    const mismatch: Answer = (response, id) =>
      json(response, 200, { jsonrpc: '2.0', id, error: { code: -32020, message: 'ran, and then this' } });
    const { url, steps } = await oldServer({ 'tools/call': mismatch });
    let nowMs = Date.now();
    const { url: door } = await world(url, { mode: 'legacy', gateway: { now: () => nowMs } });
    await ask(door);
    // What was listed is old enough to be read again.
    nowMs += 10_000;
    expect((await ask(door, callOf('echo'))).message.error?.code).toBe(-33006);
    expect(steps.filter(({ method }) => method === 'tools/call').length).toBe(1);
  });

  test('carries attached keys that are nobody else’s, and none of the newer era or of ours', async () => {
    let heard: unknown;
    const { url } = await oldServer({
      'tools/call': (response, id, params) => ((heard = params), result(text('ok'))(response, id, params)),
    });
    const { url: door } = await world(url, { mode: 'legacy' });
    const meta = { traceparent: '00-1', 'sh.tutti/other': 1, 'io.modelcontextprotocol/logLevel': 'debug' };
    for (const progressToken of [7, undefined]) {
      await ask(door, callOf('echo', {}, { meta: { ...meta, progressToken } }));
      const token = progressToken === undefined ? {} : { progressToken };
      expect(heard).toEqual({ name: 'echo', arguments: {}, _meta: { traceparent: '00-1', ...token } });
    }
  });

  test('needs no session where the server opens none, and deletes none', async () => {
    const { told, steps } = await callThrough({ initialize: result(WELCOME) });
    expect([told.status, steps.length, steps.some(({ session }) => session !== undefined)]).toEqual([200, 6, false]);
  });

  test('speaks the version that the server chose', async () => {
    const { steps } = await callThrough({ initialize: result({ ...WELCOME, protocolVersion: '2025-06-18' }) });
    expect(steps.at(-1)).toMatchObject({ method: 'tools/call', version: '2025-06-18' });
  });

  test.each<readonly [string, Readonly<Record<string, Answer>>, number]>([
    ['initialize is refused', { initialize: status(401) }, -33002],
    ['the call is refused', { 'tools/call': status(403) }, -33002],
    ['initialized is refused', { 'notifications/initialized': status(401) }, -33002],
    ['it speaks another version', { initialize: result({ ...WELCOME, protocolVersion: '2024-11-05' }) }, -33006],
    ['it has no tools', { initialize: result({ ...WELCOME, capabilities: {} }) }, -33006],
    [
      'it does not know the method',
      {
        initialize: (response, id) =>
          json(response, 200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }),
      },
      -32601,
    ],
    ['the session is lost', { 'tools/call': status(404) }, -33006],
    ['it breaks', { 'notifications/initialized': status(500) }, -33003],
    ['it asks to wait', { 'tools/call': status(429) }, -33005],
    ['it answers no result', { 'tools/call': result({ nothing: true }) }, -33006],
  ])('ends with the code of the table when %s', async (_, answers, code) => {
    const { told } = await callThrough(answers);
    expect(told.message.error?.code).toBe(code);
  });

  test('is deleted also when it failed', async () => {
    const { ofCall } = await callThrough({ 'tools/call': status(500) });
    while (ofCall().at(-1)?.verb !== 'DELETE') await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ofCall().length).toBe(3);
  });
});
