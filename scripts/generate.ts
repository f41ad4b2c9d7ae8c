/** Writes every generated file anew. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { artefacts } from './artefacts.ts';

const root = join(import.meta.dirname, '..');
for (const { path, text } of artefacts()) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  process.stdout.write(`${path}\n`);
}
