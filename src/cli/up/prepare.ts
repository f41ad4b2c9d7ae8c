/**
 * What `up` lays down before it starts anything: ports, the operator's token, the configuration. All of it stays over a restart, so
 * that an agent that was pointed here keeps working.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { rpcAddressFor } from '../../authority/index.ts';
import { version } from '../version.ts';
import { readIfThere, writePrivate } from './directory.ts';
import { layoutOf, planOf, portNames, type Layout, type Ports } from './plan.ts';
import { freePorts } from './ports.ts';

const upFile = (state: string): string => join(state, 'up.json');
const portsSchema = z.object({ ports: z.record(z.enum(portNames), z.number().int().min(1).max(65_535)) });

/** The ports of the `up` that runs, or last ran, on a state directory; undefined when none ever did, or the file is not ours. */
export function lastPorts(state: string): Ports | undefined {
  try {
    return portsSchema.parse(JSON.parse(readIfThere(upFile(state)) ?? '')).ports;
  } catch {
    return undefined;
  }
}

export interface Prepared {
  readonly state: string;
  readonly layout: Layout;
  readonly ports: Ports;
  readonly adminToken: string;
}

/** The state directory is ours by now. */
export async function prepare(state: string, pollEveryMs: number | undefined): Promise<Prepared> {
  const layout = layoutOf(state);
  const ports: Ports = await freePorts(portNames, lastPorts(state) ?? {});
  writePrivate(upFile(state), JSON.stringify({ ports }));
  const adminToken = readIfThere(layout.adminTokenFile)?.trim() ?? randomBytes(32).toString('base64url');
  writePrivate(layout.adminTokenFile, `${adminToken}\n`);
  for (const folder of [layout.filesDir, dirname(layout.logFile('x'))])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rpcAddress = rpcAddressFor(layout.authorityDir);
  const plan = planOf({ state, ports, rpcAddress, hostVersion: version, pollEveryMs });
  const { world, ...sections } = plan;
  // JSON is YAML, and needs no writer of its own.
  writePrivate(layout.configFile, `${JSON.stringify(sections, null, 2)}\n`);
  writePrivate(layout.worldFile, JSON.stringify(world));
  return { state, layout, ports, adminToken };
}
