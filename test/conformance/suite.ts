/** The official suite as a process: what it is started with, what it says, and the checks that it wrote down. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One check of a scenario, as the suite wrote it. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface SuiteRun {
  /** Of the suite's own verdict: 0 when everything that failed was expected and nothing that was expected passed. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly checks: ReadonlyMap<string, readonly Check[]>;
}

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const program = join(dirname(manifest), 'dist', 'index.js');
const node20 = fileURLToPath(new URL('node20.mjs', import.meta.url));

export const suiteVersion: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;

/** Ends a run that hangs; far above what one takes on a busy machine. */
const LONGEST_MS = 300_000;

/** Runs the suite in a folder of its own, which is gone afterwards. */
export async function runSuite(side: 'client' | 'server', args: readonly string[]): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), 'dacapo-conformance-'));
  try {
    const { exitCode, stdout } = await start([side, ...args, '-o', folder]);
    return { exitCode, stdout, checks: readChecks(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(args: readonly string[]): Promise<{ readonly exitCode: number; readonly stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', node20, program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
    const said: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => void said.push(chunk));
    child.stderr.resume();
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ exitCode: code ?? 1, stdout: Buffer.concat(said).toString('utf8') });
    });
  });
}

/** `server-` and the time are the suite's; between them stands the scenario, which may have folders of its own. */
const FOLDER = /^(?:server-)?(.+?)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/;

function readChecks(folder: string): ReadonlyMap<string, readonly Check[]> {
  const found = new Map<string, readonly Check[]>();
  for (const name of readdirSync(folder)) {
    const scenario = FOLDER.exec(name)?.[1];
    if (scenario === undefined) continue;
    found.set(scenario, JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Check[]);
  }
  return found;
}
