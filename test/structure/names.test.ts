import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow } from './syntax.ts';

/** Names that say nothing about what is inside: such a file is where anything may be put. */
const empty = /^(utils?|helpers?|common|shared|types|managers?|services?|misc|lib|constants)$/i;
const parts = (path: string): readonly string[] => path.split('/').map((part) => part.split('.')[0] ?? part);
const offenders = (files: readonly string[]): readonly string[] =>
  files.filter((file) => parts(file).some((part) => empty.test(part)));

test('no file or folder has a name that says nothing', () => {
  for (const folder of ['src', 'test', 'scripts']) expect(offenders(filesBelow(folder, ['']))).toEqual([]);
  expect(offenders(['host/utils.ts', 'types/x.ts', 'host/helpers.test.ts'])).toHaveLength(3);
});

test('a test file says in its name that it is one', () => {
  const strays = filesBelow('src', ['.test.ts', '.spec.ts']);
  expect(strays.map((path) => basename(path))).toEqual([]);
});
