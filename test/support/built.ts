/** The compiled program: what a person runs, and a quarter of the work that running the sources costs. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'dist/cli/main.js');
const record = join(root, 'node_modules/.cache/build.tsbuildinfo');

/** Path of the compiled command line, built anew when a source is younger than the last build. */
export function builtProgram(): string {
  if (!existsSync(program) || newest('src') > (statSync(record, { throwIfNoEntry: false })?.mtimeMs ?? 0)) build();
  return program;
}

function newest(folder: string): number {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}

/** Type errors are the business of `npm run check`; here only a program that is missing is one. */
function build(): void {
  const { stdout } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, encoding: 'utf8' });
  if (!existsSync(program)) throw new Error(`the build made no program:\n${stdout}`);
}
