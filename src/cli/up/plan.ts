/**
 * What `up` starts, as data: the configuration of each child, from the state directory and the ports. Nothing here is known to the
 * children but through these files; a person may read them to see how the three are set up by hand.
 */
import { join } from 'node:path';
import type { z } from 'zod';
import { demoSeed } from '../../authority/index.ts';
import type { DaemonConfigInput } from '../../host/config.ts';
import { demoDirectory } from '../demo.ts';
import type { authorityConfigSchema, gatewayConfigSchema } from '../sections.ts';
import { demoPackages } from './packages.ts';

export const portNames = ['control', 'admin', 'gateway', 'mcp', 'business', 'proxy'] as const;
export type Ports = Readonly<Record<(typeof portNames)[number], number>>;

/** The people of the demo, the first of whom is active at the first start. */
export const demoAccounts = ['ann', 'bob'] as const;

export interface Layout {
  readonly configFile: string;
  readonly worldFile: string;
  readonly adminTokenFile: string;
  /** The bearer of the local MCP server, for `export`. */
  readonly tokenFile: string;
  /** With `{account}` for the account's name. */
  readonly sessionFile: string;
  readonly authorityDir: string;
  readonly filesDir: string;
  readonly logFile: (name: string) => string;
}

/** Where things of `up` lie in a state directory. The daemon's own files are beside them. */
export function layoutOf(state: string): Layout {
  return {
    configFile: join(state, 'config', 'config.yaml'),
    worldFile: join(state, 'config', 'demo-world.json'),
    adminTokenFile: join(state, 'secrets', 'admin-token'),
    tokenFile: join(state, 'secrets', 'mcp-token'),
    sessionFile: join(state, 'secrets', 'session-{account}.json'),
    authorityDir: join(state, 'authority'),
    filesDir: join(state, 'files'),
    logFile: (name) => join(state, 'logs', `${name}.log`),
  };
}

export interface Plan {
  readonly authority: z.input<typeof authorityConfigSchema>;
  readonly gateway: z.input<typeof gatewayConfigSchema>;
  readonly daemon: DaemonConfigInput;
  readonly world: Readonly<Record<string, unknown>>;
}

export interface PlanOptions {
  readonly state: string;
  readonly ports: Ports;
  readonly rpcAddress: string;
  readonly hostVersion: string;
  readonly pollEveryMs: number | undefined;
}

const local = (port: number): string => `127.0.0.1:${String(port)}`;

export function planOf({ state, ports, rpcAddress, hostVersion, pollEveryMs }: PlanOptions): Plan {
  const layout = layoutOf(state);
  const seed = demoSeed({ everythingEndpoint: `http://${local(ports.business)}/mcp` });
  return {
    authority: {
      stateDir: layout.authorityDir,
      controlAddress: local(ports.control),
      adminAddress: local(ports.admin),
      adminTokenFile: layout.adminTokenFile,
      rpcAddress,
      accounts: [...seed.accounts],
      bindings: [...seed.bindings],
    },
    gateway: { port: ports.gateway, rpcAddress },
    daemon: {
      stateDir: state,
      hostVersion,
      // The daemon talks to the authority through the demo's proxy, which can lose what a network loses.
      controlUrl: `http://${local(ports.proxy)}`,
      hintsUrl: `ws://${local(ports.proxy)}/v1/hints`,
      mcpUrl: `http://${local(ports.gateway)}`,
      sessionFile: layout.sessionFile,
      port: ports.mcp,
      ...(pollEveryMs === undefined ? {} : { pollEveryMs }),
      connectors: connectors(state, layout),
    },
    world: {
      directory: demoDirectory(state),
      businessPort: ports.business,
      proxyPort: ports.proxy,
      target: `http://${local(ports.control)}`,
    },
  };
}

function connectors(state: string, { filesDir }: Layout): DaemonConfigInput['connectors'] {
  const memory = { MEMORY_FILE_PATH: join(state, 'memory.jsonl') };
  return [
    { id: 'everything', kind: 'remote', version: '1.0.0', binding: { bindingRef: 'everything.primary' } },
    { id: 'files', kind: 'stdio', package: demoPackages.files, args: [filesDir] },
    { id: 'memory', kind: 'stdio', package: demoPackages.memory, env: memory },
  ];
}
