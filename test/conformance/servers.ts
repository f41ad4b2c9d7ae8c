/** What the suite talks to, each behind the shim and with everything it stands on: opened for a leg, closed after it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { openGateway } from '../../src/gateway/index.ts';
import { openDaemon, type Naming } from '../../src/host/index.ts';
import { ANN, BEARER, CREDENTIAL, smallAuthority } from '../support/gateway.ts';
import { published } from '../support/host/daemons.ts';
import { everything } from './everything.ts';
import { openShim } from './shim.ts';

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** The official server 2.4.0 and nothing else: what the others are held against. */
export async function openOfficial(legacy: 'reject' | 'stateless' = 'reject'): Promise<Served> {
  const handler = createMcpHandler(() => everything('', false), { legacy });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const listener = getRequestListener((request) => handler.fetch(request));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close };
}

const VERSION = '1.0.0';

/** Door 1 before the official server, with an authority in this process. Hosts are the shim's, as a proxy's in front would be. */
export async function openDoor(): Promise<Served> {
  const upstream = await openOfficial();
  const authority = smallAuthority();
  const binding = { mode: 'modern', privateNetwork: true, injection: BEARER, limits: {} } as const;
  const allowedHosts = [new URL(upstream.url).host];
  authority.bindings.set('demo', { version: VERSION, upstream: { ...binding, endpoint: upstream.url, allowedHosts } });
  authority.connections.set('1/demo', { credential: CREDENTIAL, version: 1, state: 'connected' });
  let target: URL | undefined;
  const shim = await openShim({
    credential: ANN,
    connectorVersion: VERSION,
    target: () => target ?? new URL('http://127.0.0.1'),
  });
  const hosts = [`localhost:${shim.port}`, `127.0.0.1:${shim.port}`];
  const gateway = await openGateway({ authority, hosts });
  target = new URL(`${gateway.url}/v1/connectors/demo/mcp`);
  return { url: shim.url, close: () => inTurn(shim.close, gateway.close, upstream.close) };
}

/** With this naming, connector `test` and tool `simple_text` are the `test_simple_text` that the suite calls. */
const naming: Naming = {
  of: (connector, tool) => `${connector}_${tool}`,
  owns: (connector, name) => name.startsWith(`${connector}_`),
};

/** The daemon's local server, its tools in two processes of the official server. */
export async function openLocal(): Promise<Served> {
  const stateDir = mkdtempSync(join(tmpdir(), 'dacapo-conformance-state-'));
  const connectors = ['json', 'test'].map((id) => connector(id, stateDir));
  const daemon = await openDaemon({ stateDir, hostVersion: VERSION, connectors }, { naming });
  await published(daemon, 'json', 'test');
  const target = new URL(daemon.mcpUrl);
  const shim = await openShim({ credential: daemon.mcpToken, target: () => target, rename: true });
  const forget = (): Promise<void> => Promise.resolve(rmSync(stateDir, { recursive: true, force: true }));
  return { url: shim.url, close: () => inTurn(shim.close, () => daemon.close(), forget) };
}

function connector(id: string, cwd: string) {
  const script = fileURLToPath(new URL('everythingStdio.ts', import.meta.url));
  const args = ['--import', import.meta.resolve('tsx'), script, `${id}_`];
  return { id, kind: 'stdio' as const, command: process.execPath, args, cwd };
}

async function inTurn(...closers: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of closers) await close();
}
