// Builds dist/ with the native compiler. Files of a source that is gone are removed afterwards (a stale one would be importable and
// wrong); dist/ as a whole is never emptied first, since a running daemon loads parts of it late.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const state = 'node_modules/.cache/build.tsbuildinfo';
const tsc = 'node_modules/@typescript/native/bin/tsc';
if (!existsSync(tsc)) {
  // `npm ci --omit=dev` of a packed release: dist/ came with the package, there is nothing to build and nothing to build with.
  process.exit(existsSync('dist/cli/main.js') ? 0 : 1);
}
if (!existsSync('dist/cli/main.js')) rmSync(state, { force: true });
const built = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  const source = path.replace(/^dist/, 'src').replace(/(\.d)?\.(js|ts)(\.map)?$/, '.ts');
  if (!existsSync(source)) rmSync(path);
}
process.exit(built.status ?? 1);
