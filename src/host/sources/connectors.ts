/**
 * What is installed on this machine, as facts: `connector.installed` for each, with the reason when this host can't run it. That a
 * connector can't be run is a state with a reason, never a failed start of the daemon (peers 17).
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Fact } from '../../events/index.ts';
import type { ConnectorConfig, RemoteConfig, StdioConfig } from '../config.ts';
import { refusedVariable } from '../routes/childEnv.ts';

/** A program ready to be started. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A connector as found on this machine. */
export interface Installed {
  readonly connector: string;
  readonly kind: 'remote' | 'stdio';
  readonly authorization: 'none' | 'api_key' | 'oauth2';
  readonly release: { readonly version: string; readonly digest: string };
  readonly enabled: boolean;
  readonly incompatible: string | null;
  readonly program: Program | null;
  readonly binding: RemoteConfig['binding'] | null;
}

/** Looks a configured connector up on the disk. */
export function inspect(
  config: ConnectorConfig,
  host: { readonly version: string; readonly stateDir: string },
): Installed {
  return config.kind === 'remote' ? inspectRemote(config, host.version) : inspectStdio(config, host.stateDir);
}

/** The fact that tells the engine of it. */
export function installedFact(one: Installed): Fact {
  const { connector, kind, authorization, release, enabled, incompatible } = one;
  return { type: 'connector.installed', data: { connector, kind, authorization, release, enabled, incompatible } };
}

function inspectRemote(config: RemoteConfig, hostVersion: string): Installed {
  const { id, version, authorization, enabled, binding, minimumHostVersion } = config;
  const old = minimumHostVersion !== undefined && compareVersions(hostVersion, minimumHostVersion) < 0;
  return {
    ...{ connector: id, kind: 'remote', authorization, enabled, binding, program: null },
    release: { version, digest: config.digest ?? digestOf([id, version, binding]) },
    incompatible: old ? `needs host ${minimumHostVersion} or later, this is ${hostVersion}` : null,
  };
}

function inspectStdio(config: StdioConfig, stateDir: string): Installed {
  const found = find(config);
  const refused = Object.entries(config.env).flatMap(([name, value]) => refusedVariable(name, value) ?? []);
  const version = config.version ?? found.version ?? 'unknown';
  const incompatible = found.missing ?? refused[0] ?? null;
  return {
    ...{ connector: config.id, kind: 'stdio', authorization: config.authorization, enabled: config.enabled },
    release: { version, digest: digestOf([config.id, version, found.digest, config.args, Object.keys(config.env)]) },
    ...{ incompatible, binding: null },
    program: incompatible === null ? programOf(config, found, stateDir) : null,
  };
}

function programOf(config: StdioConfig, found: Found, stateDir: string): Program {
  const args = [...found.before, ...config.args];
  return {
    command: found.command,
    args,
    env: config.env,
    cwd: resolve(config.cwd ?? join(stateDir, 'connectors', config.id)),
  };
}

interface Found {
  readonly command: string;
  readonly before: readonly string[];
  readonly version: string | undefined;
  readonly digest: string;
  readonly missing: string | undefined;
}
const absent = (missing: string): Found => ({ command: '', before: [], version: undefined, digest: '', missing });

/** A file that is there and can't be read, or does not say what it should, is a reason like any other. */
function find(config: StdioConfig): Found {
  try {
    return config.package === undefined ? findCommand(config.command ?? '') : findPackage(config.package);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return absent(`its ${config.package === undefined ? 'command' : 'package'} can not be read${code}`);
  }
}

function findCommand(command: string): Found {
  if (!existsSync(command) || !statSync(command).isFile()) return absent('not-installed');
  return { command, before: [], version: undefined, digest: fileDigest(command), missing: undefined };
}

const manifestSchema = z.object({ version: z.string(), bin: z.union([z.string(), z.record(z.string(), z.string())]) });

function findPackage(name: string): Found {
  const folder = packageFolder(name);
  if (folder === undefined) return absent('not-installed');
  const manifest = manifestSchema.safeParse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  if (!manifest.success) return absent('the package has no command');
  const { bin, version } = manifest.data;
  const script = join(folder, typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''));
  if (!existsSync(script)) return absent('not-installed');
  const found = { command: process.execPath, before: [script], digest: fileDigest(script), missing: undefined };
  return { ...found, version: version.slice(0, 64) || undefined };
}

/** Where Node would find the package from here. Not by `resolve`: a package may hide its manifest. */
function packageFolder(name: string): string | undefined {
  const places = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return places.map((place) => join(place, name)).find((folder) => existsSync(join(folder, 'package.json')));
}

function fileDigest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function digestOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Numeric, dot by dot; what follows a `-` or `+` is no part of the order. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => (version.split(/[-+]/)[0] ?? '').split('.').map(Number));
  const at = [0, 1, 2].find((index) => (left?.[index] ?? 0) !== (right?.[index] ?? 0));
  return at === undefined ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0);
}
