import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { bareEnvironment, changeSettings, DemoNotRunning, FIRST_KEY, runBusinessServer } from '../../src/demo/index.ts';
import { loadEverything } from '../../src/demo/everything.ts';
import { closing, INITIALIZE, post2025, temporaryDirectory } from '../support/demo.ts';

describe('the business server', () => {
  test('serves the public everything server to whoever has the key', async () => {
    const { url } = closing(await runBusinessServer({ directory: temporaryDirectory() }));
    const opened = await post2025(url, FIRST_KEY, INITIALIZE);
    expect(opened.text).toContain('mcp-servers/everything');
    await post2025(url, FIRST_KEY, { jsonrpc: '2.0', method: 'notifications/initialized' }, opened.session);
    const listed = await post2025(url, FIRST_KEY, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, opened.session);
    expect(listed.text).toContain('"name":"echo"');
  });

  test('answers 401 without the key, and says nothing else', async () => {
    const { url } = closing(await runBusinessServer({ directory: temporaryDirectory() }));
    const refused = await post2025(url, 'another', INITIALIZE);
    expect(refused).toMatchObject({ status: 401, text: '{"error":"key not accepted"}' });
  });

  test('accepts another key at once when told, none when told, and remembers it', async () => {
    const directory = temporaryDirectory();
    const first = await runBusinessServer({ directory });
    await changeSettings(directory, 'business', { acceptedKey: 'second' });
    expect((await post2025(first.url, FIRST_KEY, INITIALIZE)).status).toBe(401);
    await first.close();
    const again = closing(await runBusinessServer({ directory }));
    expect((await post2025(again.url, 'second', INITIALIZE)).status).toBe(200);
    await changeSettings(directory, 'business', { acceptedKey: null });
    expect((await post2025(again.url, 'second', INITIALIZE)).status).toBe(401);
  });

  test('refuses a key that no header could carry, and keeps the one it had', async () => {
    const directory = temporaryDirectory();
    const { url } = closing(await runBusinessServer({ directory }));
    await expect(changeSettings(directory, 'business', { acceptedKey: 'a b' })).rejects.toThrow('printable ASCII');
    expect((await post2025(url, FIRST_KEY, INITIALIZE)).status).toBe(200);
  });

  test('forgets a session that was deleted', async () => {
    const { url } = closing(await runBusinessServer({ directory: temporaryDirectory() }));
    const { session } = await post2025(url, FIRST_KEY, INITIALIZE);
    const { request } = await import('undici');
    const headers = { authorization: `Bearer ${FIRST_KEY}`, 'mcp-session-id': session ?? '' };
    await (await request(url, { method: 'DELETE', headers })).body.dump();
    const late = await post2025(url, FIRST_KEY, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, session);
    expect(late.status).toBe(404);
  });

  test('keeps its control address from other users and takes it away when it ends', async () => {
    const directory = temporaryDirectory();
    const server = await runBusinessServer({ directory });
    expect(statSync(join(directory, 'business.control.json')).mode & 0o777).toBe(0o600);
    await server.close();
    await expect(changeSettings(directory, 'business', { acceptedKey: null })).rejects.toThrow(DemoNotRunning);
  });

  test('names the one command that brings the public server where it is missing', async () => {
    const missing = { code: 'not-installed', command: 'npm install @modelcontextprotocol/server-nowhere' };
    await expect(loadEverything('@modelcontextprotocol/server-nowhere')).rejects.toMatchObject(missing);
  });

  test('gives a child four variables and none of ours', () => {
    process.env['CANARY'] = 'x';
    expect(Object.keys(bareEnvironment('/d')).sort()).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR']);
    delete process.env['CANARY'];
  });
});
