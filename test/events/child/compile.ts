/**
 * Children as plain JavaScript, once a run: a loader that compiles while it loads costs each child more than a second, and a test
 * that kills ten of them would test patience.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Under node_modules, so that packages are found from there. */
const out = join(root, 'node_modules', '.cache', 'dacapo-children', String(process.pid));

/** Compiles the room, a script and the files beside it that it imports, all below test/, and returns the script's path. */
export function compileChild(script: string, ...beside: readonly string[]): string {
  const sources = readdirSync(join(root, 'src', 'events')).map((name) => join('src', 'events', name));
  for (const file of [...sources, ...[script, ...beside].map((name) => join('test', name))]) compile(file);
  writeFileSync(join(out, 'package.json'), '{"type":"module"}');
  return join(out, 'test', script.replace(/ts$/, 'js'));
}

export function removeChildren(): void {
  rmSync(out, { recursive: true, force: true });
}

function compile(file: string): void {
  const { outputText } = ts.transpileModule(readFileSync(join(root, file), 'utf8'), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  });
  const target = join(out, file.replace(/ts$/, 'js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText);
}
