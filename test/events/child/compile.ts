/**
 * Children as plain JavaScript in a bundle, once a run: a loader that compiles while it loads costs each child more than a second, one
 * that finds hundreds of files still costs more than the child's own work, and there are hundreds of children.
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '../../..');
/** Under node_modules, so that the native package is found from there. */
const out = join(root, 'node_modules', '.cache', 'dacapo-children', String(process.pid));

/** Bundles a script below test/ with all it imports, and returns the bundle's path. */
export async function compileChild(script: string): Promise<string> {
  const outDir = join(out, basename(script, '.ts'));
  await build({
    ...{ root, configFile: false, logLevel: 'error', publicDir: false },
    ssr: { noExternal: true, external: ['better-sqlite3'] },
    build: { ssr: join(root, 'test', script), outDir },
  });
  return join(outDir, basename(script).replace(/ts$/, 'js'));
}

export function removeChildren(): void {
  rmSync(out, { recursive: true, force: true });
}
