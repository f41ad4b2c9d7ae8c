import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteLog } from '../../events/index.ts';
import { logError } from '../../events/logError.ts';
import { daemonConfigSchema } from '../../host/config.ts';
import { inspect } from '../../host/sources/connectors.ts';
import { configured } from '../configured.ts';
import { EXIT } from '../exit.ts';
import { columns, styled } from '../output.ts';
import { nearest, pathsOf } from '../paths.ts';
import type { CommonOptions, Run } from '../program.ts';
import { holdDirectory } from '../up/directory.ts';
import { layoutOf } from '../up/plan.ts';
import { version } from '../version.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly text: string;
}
type Finding = string | Promise<string>;

/** Looks for what is missing or wrong on this machine. Leaves nothing behind but an empty lock file. */
export const run: Run = async ({ options, output }) => {
  const checks: readonly Check[] = [
    await check('node', node),
    await check('sqlite', () => sqlite(options)),
    await check('state directory', () => stateDirectory(options)),
    await check('configuration', () => configuration(options)),
    ...(await connectors(options)),
  ];
  output.result({ checks }, () =>
    columns(checks.map(({ name, ok, text }) => [ok ? styled('green', 'ok') : styled('red', 'no'), name, text])),
  );
  return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.problems;
};

async function check(name: string, look: () => Finding): Promise<Check> {
  try {
    return { name, ok: true, text: await look() };
  } catch (error) {
    return { name, ok: false, text: error instanceof Error ? error.message : String(error) };
  }
}

function node(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return process.versions.node;
  throw new Error(`${process.versions.node} is too old: install Node 20.19 or later`);
}

/** What a full disk may still take, being less, says nothing about the next hour. */
const ROOM_BYTES = 1024 * 1024;

/** The native module loads, and a log can be made and can grow on the very disk where ours is or will be. */
async function sqlite({ state }: CommonOptions): Promise<string> {
  const disk = nearest(pathsOf(process.env, state).state);
  try {
    await tryLog(mkdtempSync(join(disk, 'doctor-')));
    return 'opens, writes and syncs';
  } catch (error) {
    throw logError(error, disk);
  }
}

async function tryLog(folder: string): Promise<void> {
  try {
    const log = await openSqliteLog(join(folder, 'log.sqlite'));
    log.close();
    writeFileSync(join(folder, 'room'), Buffer.alloc(ROOM_BYTES, 1), { flush: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function stateDirectory({ state: named }: CommonOptions): string {
  const { state } = pathsOf(process.env, named);
  const found = statSync(state, { throwIfNoEntry: false });
  if (found === undefined) return `${state} will be made at the first start`;
  if ((found.mode & 0o077) !== 0) throw new Error(`${state} is open to others: chmod 700 ${state}`);
  try {
    holdDirectory(state, ['control.sock'])();
  } catch (error) {
    if ((error as { exit?: unknown }).exit !== EXIT.conflict) throw error;
    return `${state}, in use by a running dacapo up`;
  }
  return state;
}

function daemonSection(options: CommonOptions): ReturnType<typeof daemonConfigSchema.parse> {
  const { state } = pathsOf(process.env, options.state);
  const ours = statSync(layoutOf(state).configFile, { throwIfNoEntry: false });
  const config = options.config ?? (ours === undefined ? undefined : layoutOf(state).configFile);
  const file = config === undefined ? {} : { config };
  return configured('daemon', daemonConfigSchema, { ...options, ...file }, { stateDir: state, hostVersion: version });
}

function configuration(options: CommonOptions): string {
  const { connectors: known, controlUrl } = daemonSection(options);
  return `${String(known.length)} connectors, control plane ${controlUrl ?? 'none'}`;
}

/** A connector that can't run here is a finding: its reason is what `status` will show. */
async function connectors(options: CommonOptions): Promise<readonly Check[]> {
  let known: ReturnType<typeof daemonSection>['connectors'] = [];
  try {
    known = daemonSection(options).connectors;
  } catch {
    return [];
  }
  const { state } = pathsOf(process.env, options.state);
  return Promise.all(
    known.map((one) =>
      check(`connector ${one.id}`, () => {
        const { incompatible, release } = inspect(one, { version, stateDir: state });
        if (incompatible !== null) throw new Error(incompatible);
        return `release ${release.version}`;
      }),
    ),
  );
}
