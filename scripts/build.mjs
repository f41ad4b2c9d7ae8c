// Builds dist/ with the native compiler. A stale file of an earlier build would be importable and wrong, so dist/ starts
// empty unless the incremental state and the output still belong together.
import { existsSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

const state = 'node_modules/.cache/build.tsbuildinfo';
if (!existsSync('dist/index.js') || process.argv.includes('--clean')) {
  rmSync('dist', { recursive: true, force: true });
  rmSync(state, { force: true });
}
if (!existsSync('node_modules/@typescript/native')) {
  // `npm ci --omit=dev` of a packed release: dist/ came with the package, there is nothing to build and nothing to build with.
  process.exit(existsSync('dist/index.js') ? 0 : 1);
}
const tsc = 'node_modules/@typescript/native/bin/tsc';
const built = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
process.exit(built.status ?? 1);
