/**
 * Runs the command line as a person does: another process, from what the build made of the source. Built here when the source is
 * newer, so that no test holds yesterday's program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const main: string = join(root, 'dist/cli/main.js');
/** Program and arguments before the command. */
export const dacapo: readonly [string, ...string[]] = [process.execPath, main];

const newest = (folder: string): number =>
  Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
const built = statSync(main, { throwIfNoEntry: false });
if (built === undefined || newest(join(root, 'dist')) < newest(join(root, 'src'))) {
  spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end. `input` goes to its stdin. */
export function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ended> {
  const [program, ...first] = dacapo;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, [...first, ...args], { env: { PATH, HOME, ...environment }, timeout: 30_000 });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      resolve({ code, ...text });
    });
  });
}
