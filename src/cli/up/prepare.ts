/**
 * What `up` lays down before it starts anything: ports, the operator's token, the configuration. All of it stays over a restart, so
 * that an agent that was pointed here keeps working.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { rpcAddressFor } from '../../authority/index.ts';
import type { Admin } from '../admin.ts';
import { CommandError, EXIT } from '../exit.ts';
import { version } from '../version.ts';
import { readIfThere, writePrivate } from './directory.ts';
import { layoutOf, planOf, portNames, type Layout, type Ports } from './plan.ts';
import { freePorts } from './ports.ts';

const upFile = (state: string): string => join(state, 'up.json');
const portSchema = z.number().int().min(1).max(65_535);
/** `begun`: the first account was chosen, so that a later choice is the person's. */
const upSchema = z.object({ ports: z.record(z.enum(portNames), portSchema), begun: z.boolean() });

/** What the `up` that runs, or last ran, on a state directory kept; undefined when none ever did, or the file is not ours. */
function kept(state: string): z.output<typeof upSchema> | undefined {
  try {
    return upSchema.parse(JSON.parse(readIfThere(upFile(state)) ?? ''));
  } catch {
    return undefined;
  }
}

/** From now on the choice of an account is the person's. */
export function keepBegun({ state, ports }: Prepared): void {
  writePrivate(upFile(state), JSON.stringify({ ports, begun: true }));
}

/** The operator's door of the `up` on a state directory. Throws a CommandError (5) when none was ever there. */
export function adminOf(state: string): Admin {
  const ports = kept(state)?.ports;
  const token = readIfThere(layoutOf(state).adminTokenFile)?.trim();
  if (ports !== undefined && token !== undefined) return { url: `http://127.0.0.1:${String(ports.admin)}`, token };
  throw new CommandError(
    EXIT.unavailable,
    `no dacapo up was ever here: ${state}`,
    'start it with `dacapo up`, or name its --state',
  );
}

export interface Prepared {
  readonly state: string;
  readonly layout: Layout;
  readonly ports: Ports;
  readonly adminToken: string;
  /** The first account was chosen already. */
  readonly begun: boolean;
}

/** The state directory is ours by now. */
export async function prepare(state: string, pollEveryMs: number | undefined): Promise<Prepared> {
  const layout = layoutOf(state);
  const last = kept(state);
  const ports: Ports = await freePorts(portNames, last?.ports ?? {});
  const begun = last?.begun ?? false;
  writePrivate(upFile(state), JSON.stringify({ ports, begun }));
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
  return { state, layout, ports, adminToken, begun };
}
