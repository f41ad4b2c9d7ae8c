import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callControl, openDaemon, streamControl, type Daemon } from '../../src/host/index.ts';
import { openControl } from '../../src/host/control.ts';
import type { Log } from '../../src/host/log.ts';
import { marked, markVariable } from '../../src/host/routes/processTree.ts';
import { fixtureConnector, modern } from '../support/host/agent.ts';
import { folder } from '../support/host/controlServer.ts';
import { daemonWith, published } from '../support/host/daemons.ts';
import { lives } from '../support/host/children.ts';

const open: Daemon[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((daemon) => daemon.close()));
});
const started = (daemon: Daemon): Daemon => (open.push(daemon), daemon);
const ownerOf = (stateDir: string) => createHash('sha256').update(realpathSync(stateDir)).digest('hex').slice(0, 16);

test('a stop leaves no child, no socket and no lock behind', async () => {
  const stateDir = folder();
  const connectors = [fixtureConnector('one'), fixtureConnector('two')];
  const daemon = await daemonWith({ stateDir, connectors });
  await published(daemon, 'one', 'two');
  const children = marked(`${ownerOf(stateDir)}:`);
  expect(children.length).toBe(2);
  await daemon.close();
  expect(children.map(lives)).toEqual([false, false]);
  await expect(callControl(daemon.controlSocket, 'status')).rejects.toMatchObject({ name: 'DaemonNotRunning' });
  started(await daemonWith({ stateDir, connectors: [] }));
});

test('a stop while a route is being opened leaves no child either', async () => {
  const stateDir = folder();
  const daemon = await daemonWith({ stateDir, connectors: [fixtureConnector('mute', { hang: 'initialize' })] });
  await expect.poll(() => marked(`${ownerOf(stateDir)}:`).length, { timeout: 10_000 }).toBe(1);
  await daemon.close();
  expect(marked(`${ownerOf(stateDir)}:`)).toEqual([]);
});

test('agents keep their address and bearer over a restart, in a file for its user alone', async () => {
  const stateDir = folder();
  const first = await daemonWith({ stateDir });
  await first.close();
  const second = started(await daemonWith({ stateDir }));
  expect([second.mcpUrl, second.mcpToken]).toEqual([first.mcpUrl, first.mcpToken]);
  expect(second.mcpToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const modes = ['agent.json', 'control.sock', '.'].map((name) => statSync(join(stateDir, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o700]);
});

test('a second daemon on one state directory is refused and harms nothing', async () => {
  const stateDir = folder();
  const first = started(await daemonWith({ stateDir, connectors: [fixtureConnector('one')] }));
  await published(first, 'one');
  await expect(openDaemon({ stateDir, hostVersion: '1' })).rejects.toMatchObject({ name: 'LogConflict' });
  expect((await modern(first, 'tools/call', { name: 'one__echo' })).status).toBe(200);
});

test('what a killed daemon left behind is ended at the next start', async () => {
  const stateDir = folder();
  const env = { [markVariable]: `${ownerOf(stateDir)}:earlier:x:` };
  const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env, stdio: 'ignore', detached: true });
  await expect.poll(() => marked(`${ownerOf(stateDir)}:`)).toEqual([left.pid]);
  started(await daemonWith({ stateDir }));
  await expect.poll(() => lives(left.pid ?? 0)).toBe(false);
});

test('a process that dies is told, withdrawn, and started again by itself', async () => {
  const daemon = started(await daemonWith({ connectors: [fixtureConnector('one')] }));
  await published(daemon, 'one');
  await modern(daemon, 'tools/call', { name: 'one__die' });
  await published(daemon);
  await published(daemon, 'one');
  expect((await modern(daemon, 'tools/call', { name: 'one__echo' })).text).toContain('content');
});

test('a configuration that is none is refused before anything is opened', async () => {
  const wrong = { stateDir: folder(), hostVersion: '1', controlUrl: 'http://example.com' };
  await expect(openDaemon(wrong)).rejects.toThrow('https');
  await expect(openDaemon({ ...wrong, controlUrl: 'https://u:p@example.com' })).rejects.toThrow('https');
});

test('the log is read, verified and exported through the socket', async () => {
  const daemon = started(await daemonWith({ connectors: [fixtureConnector('one')] }));
  await published(daemon, 'one');
  const rows: unknown[] = [];
  for await (const row of streamControl(daemon.controlSocket, 'log.read', { from: 2, count: 1 })) rows.push(row);
  expect(rows).toMatchObject([{ position: 2, type: 'connector.installed' }]);
  expect(await callControl(daemon.controlSocket, 'log.verify')).toMatchObject({ broken: null });
  const lines: unknown[] = [];
  for await (const text of streamControl(daemon.controlSocket, 'log.export')) lines.push(JSON.parse(text as string));
  expect(lines[0]).toMatchObject({ dacapoLog: 1 });
});

test('changes of the table are told as they happen', async () => {
  const daemon = started(await daemonWith({ connectors: [fixtureConnector('one')] }));
  await published(daemon, 'one');
  const tables = streamControl(daemon.controlSocket, 'tables');
  expect((await tables.next()).value).toMatchObject([{ connector: 'one' }]);
  daemon.reconciler.accept({ type: 'connector.toggled', data: { connector: 'one', enabled: false } });
  expect((await tables.next()).value).toEqual([]);
  await tables.return();
});

test('what the socket is asked wrongly is refused with what to do', async () => {
  const { controlSocket } = started(await daemonWith({}));
  await expect(callControl(controlSocket, 'nothing')).rejects.toMatchObject({ kind: 'UnknownCommand' });
  await expect(callControl(controlSocket, 'why', {})).rejects.toMatchObject({ kind: 'BadInput' });
  await expect(callControl(controlSocket, 'account.use', { account: '' })).rejects.toMatchObject({
    kind: 'BadInput',
    message: 'account: expected 1 to 191 characters',
  });
  await expect(callControl(controlSocket, 'account.use', { account: 'ann' })).rejects.toMatchObject({
    kind: 'NoAccounts',
  });
  await expect(callControl(controlSocket, 'account.trustServer', { acceptedBy: 'x' })).rejects.toMatchObject({
    kind: 'AuthorizationRefused',
    reason: 'signed-out',
  });
  const secret = 'é'.repeat(10_000);
  const long = callControl(controlSocket, 'connect', { connector: 'x', secret });
  await expect(long).rejects.toMatchObject({ kind: 'BadInput', message: expect.not.stringContaining('é') as string });
  await expect(callControl(controlSocket, 'connect', { connector: 'x' })).rejects.toMatchObject({
    kind: 'AuthorizationRefused',
  });
});

test('the socket is private from its first moment, and what is made beside it meanwhile is as usual', async () => {
  const path = join(folder(), 'control.sock');
  const before = process.umask();
  const opening = openControl(path, {}, () => undefined);
  expect([process.umask(), statSync(path).mode & 0o777]).toEqual([before, 0o600]);
  await (await opening).close();
});

test.each(['{"token": canary}', '{"a":1,"a":2}', '["canary"]'])(
  'arguments that are none (%s) are refused without a word of them, also in the log',
  async (argsText) => {
    const said: string[] = [];
    const log: Log = (...line) => void said.push(JSON.stringify(line));
    const { controlSocket } = started(await daemonWith({}, { log }));
    const asked = callControl(controlSocket, 'call', { name: 'x__y', argsText });
    await expect(asked).rejects.toMatchObject({ kind: 'BadJson' });
    await expect(asked).rejects.not.toThrow('canary');
    expect(said.join()).not.toContain('canary');
  },
);

test('neither the bearer nor a declared variable is in the log, on disk or exported', async () => {
  const stateDir = folder();
  const connector = fixtureConnector('one');
  const env = { ...connector.env, API_KEY: 'canary-of-the-environment' };
  const daemon = started(await daemonWith({ stateDir, connectors: [{ ...connector, env }] }));
  await published(daemon, 'one');
  const { mcpToken } = daemon;
  await daemon.close();
  const files = ['log.sqlite', 'log.sqlite-wal'].map((name) => readIf(join(stateDir, name)));
  for (const secret of [mcpToken, 'canary-of-the-environment'])
    expect(files.some((text) => text.includes(secret))).toBe(false);
});

function readIf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
