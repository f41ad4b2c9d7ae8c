/** The page that a newcomer follows says what the commands say: every console block of it is run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../support/commandLine.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/INCIDENTS.md'), 'utf8');
const blocks = [...page.matchAll(/^```console\n\$ npx dacapo (.*)\n([^]*?)^```/gm)].map(
  ([, command = '', output = '']) => [command, output] as const,
);

test('the page has a question, a transcript and a comparison to follow', () => {
  expect(blocks.map(([command]) => command.split(' ')[0])).toEqual(['why', 'replay', 'diff']);
});

test.each(blocks)('dacapo %s', { timeout: 60_000 }, async (command, output) => {
  const { stdout, stderr } = await run(command.split(' '));
  expect([stdout, stderr]).toEqual([output, '']);
});
