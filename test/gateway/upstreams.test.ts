import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';

import { changeSettings, FIRST_KEY, runBusinessServer } from '../../src/demo/index.ts';
import { closing, INITIALIZE, plainServer, post2025, temporaryDirectory } from '../support/demo.ts';
import { ask, callOf, world } from '../support/gateway.ts';
import type { World } from '../support/gateway.ts';

/** The public everything server behind its key, behind the gateway. */
async function everything(): Promise<World & { readonly directory: string; readonly endpoint: string }> {
  const directory = temporaryDirectory();
  const { url: endpoint } = closing(await runBusinessServer({ directory }));
  return { ...(await world(endpoint, { mode: 'legacy', credential: FIRST_KEY })), directory, endpoint };
}

/** What the server itself answers, as text of the result. */
async function direct(endpoint: string, method: string, params: object): Promise<string> {
  const { session } = await post2025(endpoint, FIRST_KEY, INITIALIZE);
  await post2025(endpoint, FIRST_KEY, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  const { text } = await post2025(endpoint, FIRST_KEY, { jsonrpc: '2.0', id: 2, method, params }, session);
  const data = text.split('\n').findLast((line) => line.startsWith('data: ')) ?? '';
  return JSON.stringify((JSON.parse(data.slice(6)) as { result: object }).result).slice(1, -1);
}

describe('the everything server, of the era that begins with initialize', () => {
  test('lists through the gateway exactly what it lists itself', async () => {
    const { url, endpoint } = await everything();
    const tools = (await direct(endpoint, 'tools/list', {})).replace(/^"tools":/, '');
    expect((await ask(url)).text).toContain(`"tools":${tools}`);
  });

  test.each([
    ['echo', { message: 'héllo' }],
    ['get-sum', { a: 2, b: 3 }],
    ['get-tiny-image', {}],
    ['get-structured-content', { location: 'New York' }],
    ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ])('answers %s through the gateway as it does itself', async (name, args) => {
    const { url, endpoint } = await everything();
    const told = await ask(url, callOf(name, args));
    expect(told.text).toContain(await direct(endpoint, 'tools/call', { name, arguments: args }));
    expect(told.message.result?.['resultType']).toBe('complete');
  });

  test('sends progress of a long call while it runs, and its result after it', async () => {
    const { url } = await everything();
    const told = await ask(
      url,
      callOf('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { meta: { progressToken: 'p' } }),
    );
    expect(told.headers['content-type']).toBe('text/event-stream');
    expect(
      told.text.match(/"progress":\d,/g)?.length ?? told.text.match(/notifications\/progress/g)?.length,
    ).toBeGreaterThan(1);
    expect(told.message.result?.['content']).toBeDefined();
  });

  test('has its own error passed on, and a bad argument told by the tool', async () => {
    const { url } = await everything();
    expect((await ask(url, callOf('no-such-tool'))).message.error?.code).toBe(-32602);
    expect((await ask(url, callOf('get-sum', { a: 'x' }))).message.result?.['isError']).toBe(true);
  });

  test('refuses a key that it no longer accepts, and the account is asked to authorize again', async () => {
    const { url, directory, authority } = await everything();
    expect((await ask(url, callOf('echo', { message: 'a' }))).status).toBe(200);
    await changeSettings(directory, 'business', { acceptedKey: 'another' });
    expect(await ask(url, callOf('echo', { message: 'a' }))).toMatchObject({
      status: 428,
      message: { error: { code: -33002 } },
    });
    await authority.reported('upstream_refused');
    expect(authority.connections.get('1/demo')?.state).toBe('reauth_required');
  });
});

/** The official SDK's own server of 2026-07-28. */
async function modernServer(): Promise<string> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'sdk', version: '1' }, { capabilities: { tools: { listChanged: false } } });
      const schema: object = {
        type: 'object',
        properties: {
          region: { type: 'string', 'x-mcp-header': 'Region' },
          n: { type: 'integer', 'x-mcp-header': 'N' },
        },
        required: ['region'],
      };
      const inputSchema = fromJsonSchema<{ region: string; n?: number }>(schema);
      server.registerTool('where', { inputSchema }, (args) => ({
        content: [{ type: 'text', text: JSON.stringify(args) }],
      }));
      return server;
    },
    { legacy: 'reject' },
  );
  const { url } = await plainServer(
    (request, response) => void getRequestListener((asked) => handler.fetch(asked))(request, response),
  );
  return `${url}/mcp`;
}

describe('the official SDK’s server of 2026-07-28', () => {
  test('gets its headers from the contract that was last served, and they agree with the arguments', async () => {
    const { url } = await world(await modernServer());
    await ask(url);
    const told = await ask(
      url,
      callOf('where', { region: 'eu', n: 42 }, { headers: { 'mcp-param-region': 'eu', 'mcp-param-n': '42.0' } }),
    );
    expect(told.message.result).toMatchObject({ content: [{ text: '{"region":"eu","n":42}' }] });
  });

  test.each([
    ['is missing', {}],
    ['differs', { 'mcp-param-region': 'us' }],
    ['is badly encoded', { 'mcp-param-region': '=?base64?ZXU?=' }],
    ['has no argument', { 'mcp-param-region': 'eu', 'mcp-param-n': '1' }],
  ])('is not called when a header %s', async (_, headers) => {
    const { url, authority } = await world(await modernServer());
    const told = await ask(url, callOf('where', { region: 'eu' }, { headers }));
    expect([told.status, told.message.error?.code]).toEqual([400, -32020]);
    expect((await authority.reported('not_sent')).detail).toBe('-32020');
  });

  test('is listed before a first call that nobody listed for', async () => {
    const { url } = await world(await modernServer());
    const told = await ask(url, callOf('where', { region: 'eu' }, { headers: { 'mcp-param-region': 'eu' } }));
    expect(told.status).toBe(200);
  });
});
