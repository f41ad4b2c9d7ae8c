/**
 * What is measured runs as compiled: the loader that runs TypeScript names every closure when it is made, which costs more than some of what
 * is measured.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const compiler = 'node_modules/@typescript/native/bin/tsc';

/** Only what the parts import: what somebody is writing elsewhere at the time is no matter of theirs. */
const project = (out: string): object => ({
  extends: resolve('tsconfig.json'),
  files: ['core', 'wireProcess'].map((name) => resolve('bench', `${name}.ts`)),
  include: [],
  compilerOptions: {
    ...{ noEmit: false, noCheck: true, incremental: false, tsBuildInfoFile: null },
    ...{ outDir: out, rootDir: resolve('.'), typeRoots: [resolve('node_modules/@types')] },
  },
});

/** Compiles them below a folder; answers their program. Throws when it can't be compiled. */
export function compiled(folder: string): string {
  const out = join(folder, 'compiled');
  const config = join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify(project(out)));
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the bench could not be compiled: ${stdout.slice(0, 500)}`);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'package.json'), '{"type":"module"}');
  symlinkSync(resolve('node_modules'), join(out, 'node_modules'));
  return join(out, 'bench');
}
