import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { artefacts } from '../../scripts/artefacts.ts';
import { root } from './syntax.ts';

test.each(artefacts().map(({ path, text }) => [path, text]))('%s is what `npm run generate` writes', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});
