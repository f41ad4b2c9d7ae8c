/**
 * The parts run as compiled: the loader that runs TypeScript names every closure when it is made, which costs more than some of what
 * is measured.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const compiler = 'node_modules/@typescript/native/bin/tsc';
const asCode = ['--noEmit', 'false', '--noCheck', '--incremental', 'false', '--tsBuildInfoFile', 'null'];

/** Compiles everything below a folder; answers the program of the parts. Throws when it can't be compiled. */
export function compileParts(folder: string): string {
  const out = join(folder, 'compiled');
  const args = [compiler, '-p', 'tsconfig.json', ...asCode, '--outDir', out, '--rootDir', '.'];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the bench could not be compiled: ${stdout.slice(0, 500)}`);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'package.json'), '{"type":"module"}');
  symlinkSync(resolve('node_modules'), join(out, 'node_modules'));
  return join(out, 'bench', 'wireProcess.js');
}
