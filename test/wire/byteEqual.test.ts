/**
 * What a server says reaches the agent byte for byte: lists (under the names that agents see) and results, of the three public servers
 * and of a modern server on the official SDK, behind the local server, behind the gateway, and behind both. Each is held against the
 * same server asked directly, by hand.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGateway, type Gateway } from '../../src/gateway/index.ts';
import { callControl, type Daemon } from '../../src/host/index.ts';
import { naming } from '../../src/host/server/names.ts';
import { sessionCookie } from '../../src/protocol/accountToken.ts';
import { openOfficial, type Served } from '../conformance/servers.ts';
import { ANN, BEARER, CREDENTIAL, smallAuthority } from '../support/gateway.ts';
import { controlServer, json, type ControlServer } from '../support/host/controlServer.ts';
import { daemonWith, published } from '../support/host/daemons.ts';
import { openBridge, type Bridge } from '../support/wire/bridge.ts';
import { askModern, openDirect, post, renamed, scriptOf, toolsIn, type Asked } from '../support/wire/direct.ts';

const folder = mkdtempSync(join(tmpdir(), 'dacapo-equal-'));
/** Copies of one world: what a server changes must not be seen by another. */
const worlds = ['direct', 'local', 'door', 'both'].map((name) => join(folder, name));
const [directWorld = '', localWorld = '', doorWorld = '', bothWorld = ''] = worlds;
/** The connector that stands for a public server behind the gateway, at the local server. */
const far = (id: string): string => `far-${id}`;

interface PublicServer {
  readonly id: string;
  readonly args: (world: string) => readonly string[];
  readonly env: (world: string) => Readonly<Record<string, string>>;
  /** In their order: some change what the next ones see. */
  readonly calls: readonly (readonly [tool: string, args: (world: string) => object])[];
}

const always =
  (args: object): ((world: string) => object) =>
  () =>
    args;
const below =
  (name: string, rest: object = {}): ((world: string) => object) =>
  (world) => ({ path: join(world, 'files', name), ...rest });
const ada = { name: 'Ada', entityType: 'person', observations: ['writes é𝕏 programs'] };
const servers: readonly PublicServer[] = [
  {
    id: 'everything',
    args: () => [scriptOf('@modelcontextprotocol/server-everything'), 'stdio'],
    env: () => ({}),
    calls: [
      ['echo', always({ message: 'é𝕏\n"\\u0000' })],
      ['get-sum', always({ a: 1.5, b: -0.25 })],
      ['get-tiny-image', always({})],
      ['get-structured-content', always({ location: 'New York' })],
      ['get-annotated-message', always({ messageType: 'error', includeImage: true })],
      ['get-resource-links', always({ count: 3 })],
      ['trigger-long-running-operation', always({ duration: 0.05, steps: 2 })],
      ['get-sum', always({ a: 'not a number' })],
    ],
  },
  {
    id: 'files',
    args: (world) => [scriptOf('@modelcontextprotocol/server-filesystem'), join(world, 'files')],
    env: () => ({}),
    calls: [
      ['list_directory', below('')],
      ['read_text_file', below('a.txt')],
      ['write_file', below('b.txt', { content: 'new' })],
      ['directory_tree', below('')],
      ['read_text_file', below('absent.txt')],
      ['list_allowed_directories', always({})],
    ],
  },
  {
    id: 'memory',
    args: () => [scriptOf('@modelcontextprotocol/server-memory')],
    env: (world) => ({ MEMORY_FILE_PATH: join(world, 'memory.jsonl') }),
    calls: [
      ['create_entities', always({ entities: [ada] })],
      ['read_graph', always({})],
      ['search_nodes', always({ query: 'programs' })],
      ['add_observations', always({ observations: [{ entityName: 'nobody', contents: ['x'] }] })],
      ['delete_entities', always({ entityNames: ['Ada'] })],
    ],
  },
];

let daemon: Daemon;
let gateway: Gateway;
let control: ControlServer;
let modern: Served;
const bridges: Bridge[] = [];
const connectorUrl = (id: string): string => `${gateway.url}/v1/connectors/${id}/mcp`;
const asAnn = { authorization: `Bearer ${ANN}`, 'tutti-connector-version': '1.0.0' };
const asAgent = (): Readonly<Record<string, string>> => ({ authorization: `Bearer ${daemon.mcpToken}` });

beforeAll(async () => {
  for (const world of worlds) mkdirSync(join(world, 'files'), { recursive: true });
  writeFileSync(join(directWorld, 'files', 'a.txt'), 'é𝕏\r\n\ttext\u2028');
  for (const world of worlds.slice(1)) cpSync(directWorld, world, { recursive: true });
  modern = await openOfficial();
  const authority = smallAuthority();
  const binding = {
    mode: 'modern',
    privateNetwork: true,
    injection: BEARER,
    limits: {},
    endpoint: modern.url,
  } as const;
  authority.bindings.set('sdk', {
    version: '1.0.0',
    upstream: { ...binding, allowedHosts: [new URL(modern.url).host] },
  });
  const bind = (id: string, endpoint: string, mode: 'modern' | 'legacy'): void => {
    const upstream = { ...binding, endpoint, mode, allowedHosts: [new URL(endpoint).host] };
    authority.bindings.set(id, { version: '1.0.0', upstream });
    authority.connections.set(`1/${id}`, { credential: CREDENTIAL, version: 1, state: 'connected' });
  };
  bind('sdk', modern.url, 'modern');
  const bindBridge = async (id: string, { args, env }: PublicServer, world: string): Promise<void> => {
    const bridge = await openBridge(args(world), env(world));
    bridges.push(bridge);
    bind(id, bridge.url, 'legacy');
  };
  for (const one of servers) {
    await bindBridge(one.id, one, doorWorld);
    await bindBridge(far(one.id), one, bothWorld);
  }
  gateway = await openGateway({ authority });
  control = await controlServer();
  const remotes = ['sdk', ...servers.map(({ id }) => far(id))];
  const connected = { connectorVersion: '1.0.0', state: 'connected', connectionId: 'c', connectionVersion: 1 };
  control.answer = json({ revision: 1, connectors: remotes.map((connectorId) => ({ connectorId, ...connected })) });
  const sessionFile = join(folder, 'session.json');
  writeFileSync(sessionFile, JSON.stringify({ session_id: 's', cookie: `${sessionCookie}=${ANN}`, user_id: 'ann' }), {
    mode: 0o600,
  });
  const local = servers.map(({ id, args, env }) => ({ id, kind: 'stdio' as const, command: process.execPath, args: [...args(localWorld)], env: env(localWorld) })); // prettier-ignore
  const remote = remotes.map((id) => ({ id, kind: 'remote' as const, version: '1.0.0', binding: { bindingRef: `${id}.primary` } })); // prettier-ignore
  daemon = await daemonWith({
    connectors: [...local, ...remote],
    controlUrl: control.url,
    mcpUrl: gateway.url,
    sessionFile,
  });
  await callControl(daemon.controlSocket, 'account.use', { account: 'ann' });
  await published(daemon, ...servers.map(({ id }) => id), ...remotes);
}, 120_000);
afterAll(async () => {
  await daemon.close();
  await gateway.close();
  await control.close();
  await Promise.all([modern, ...bridges].map((one) => one.close()));
  rmSync(folder, { recursive: true, force: true });
});

const ofConnector = (id: string, definitions: readonly string[]): readonly string[] =>
  definitions.filter((text) => text.startsWith(`{"name":"${id}__`));
const withType = (result: string): string => `${result.slice(0, -1)},"resultType":"complete"}`;
/** A server's answer names its own world; the one asked directly has another. */
const inWorld = (world: string, text: string): string => text.replaceAll(directWorld, world);

describe.each(servers)('the public server $id', ({ id, args, env, calls }) => {
  let direct: Asked;
  /** Its own results, in the order of the calls. */
  let own: readonly string[];
  beforeAll(async () => {
    direct = await openDirect(args(directWorld), env(directWorld));
    const results: string[] = [];
    for (const [name, argsOf] of calls)
      results.push(await direct.ask('tools/call', { name, arguments: argsOf(directWorld) }));
    own = results;
  });
  afterAll(() => direct.close());

  test('is listed behind the local server with the definitions that it gives, in both eras', async () => {
    const tools = toolsIn(await direct.ask('tools/list', {})).map((text) =>
      renamed(text, (name) => naming.of(id, name)),
    );
    const legacy = await post(daemon.mcpUrl, asAgent(), { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(tools.length).toBeGreaterThan(8);
    expect(ofConnector(id, toolsIn(await askModern(daemon.mcpUrl, asAgent(), 'tools/list')))).toEqual(tools);
    expect(ofConnector(id, toolsIn(legacy))).toEqual(tools);
  });

  test('is listed behind the gateway with the definitions that it gives', async () => {
    const tools = toolsIn(await direct.ask('tools/list', {}));
    expect(toolsIn(await askModern(connectorUrl(id), asAnn, 'tools/list'))).toEqual(tools);
  });

  test('answers calls behind the local server with the results that it gives, in both eras', async () => {
    for (const [index, [tool, argsOf]] of calls.entries()) {
      const result = inWorld(localWorld, own[index] ?? '');
      const call = { name: naming.of(id, tool), arguments: argsOf(localWorld) };
      expect(await askModern(daemon.mcpUrl, asAgent(), 'tools/call', call)).toBe(withType(result));
      if (/^(?:write|create|add|delete)/.test(tool)) continue;
      const legacy = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
      expect(await post(daemon.mcpUrl, asAgent(), legacy)).toBe(result);
    }
  });

  test('is listed and answers calls behind both, with the definitions and results that it gives', async () => {
    const listed = toolsIn(await direct.ask('tools/list', {}));
    const tools = listed.map((text) => renamed(text, (name) => naming.of(far(id), name)));
    expect(ofConnector(far(id), toolsIn(await askModern(daemon.mcpUrl, asAgent(), 'tools/list')))).toEqual(tools);
    for (const [index, [tool, argsOf]] of calls.entries()) {
      const call = { name: naming.of(far(id), tool), arguments: argsOf(bothWorld) };
      const result = withType(inWorld(bothWorld, own[index] ?? ''));
      expect(await askModern(daemon.mcpUrl, asAgent(), 'tools/call', call)).toBe(result);
    }
  });

  test('answers calls behind the gateway with the results that it gives', async () => {
    for (const [index, [name, argsOf]] of calls.entries()) {
      const call = { name, arguments: argsOf(doorWorld) };
      const result = withType(inWorld(doorWorld, own[index] ?? ''));
      expect(await askModern(connectorUrl(id), asAnn, 'tools/call', call)).toBe(result);
    }
  });
});

describe('a modern server on the official SDK', () => {
  const names = ['test_simple_text', 'test_image_content', 'test_multiple_content_types', 'test_error_handling'];

  test('is listed behind the gateway with the definitions that it gives', async () => {
    const own = toolsIn(await askModern(modern.url, {}, 'tools/list'));
    expect(own.length).toBeGreaterThan(8);
    expect(toolsIn(await askModern(connectorUrl('sdk'), asAnn, 'tools/list'))).toEqual(own);
  });

  test('answers calls behind the gateway, and behind both, with the results that it gives', async () => {
    for (const name of names) {
      const own = await askModern(modern.url, {}, 'tools/call', { name, arguments: {} });
      expect(await askModern(connectorUrl('sdk'), asAnn, 'tools/call', { name, arguments: {} })).toBe(own);
      const call = { name: `sdk__${name}`, arguments: {} };
      expect(await askModern(daemon.mcpUrl, asAgent(), 'tools/call', call)).toBe(own);
    }
  });

  test('is listed behind both with the definitions that it gives, but for marks that bind the hop before', async () => {
    const own = toolsIn(await askModern(modern.url, {}, 'tools/list'))
      .map((text) => renamed(text, (name) => naming.of('sdk', name)))
      .map((text) => text.replace(/,"x-mcp-header":"[A-Za-z]+"/g, ''));
    expect(ofConnector('sdk', toolsIn(await askModern(daemon.mcpUrl, asAgent(), 'tools/list')))).toEqual(own);
  });
});
