import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sections } from '../../scripts/proofSections.ts';
import { root } from './syntax.ts';

const proof = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', join(root, 'scripts/proof.ts'), ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 30_000,
  });
const names = (all: typeof sections): string => all.map(({ name }) => name).join(', ');

test('a section that is not there proves nothing, and those that are there are named', () => {
  const { status, stdout, stderr } = proof('prove', 'nothing');
  expect([status, stdout, stderr]).toEqual([2, '', `no section is called nothing; there are: ${names(sections)}\n`]);
});

test('a section without a short form is not passed by a build, and those that have one are named', () => {
  const { status, stdout, stderr } = proof('--short', 'wireMutants', 'prove');
  const short = names(sections.filter((section) => section.short !== undefined));
  const told = `no section with a short form is called wireMutants; there are: ${short}\n`;
  expect([status, stdout, stderr]).toEqual([2, '', told]);
});
