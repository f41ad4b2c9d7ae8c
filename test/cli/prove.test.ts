/** The exhaustive walk from the command line. */
import { expect, test } from 'vitest';
import { run } from '../support/commandLine.ts';
import { documentOf } from '../support/documents.ts';

test('prove --json says how many states there are, that each is safe and none is stuck, and what it cost', async () => {
  const { code, stdout } = await run(['prove', '--set', 'short', '--world', 'short-refusing', '--json']);
  expect(code).toBe(0);
  const proof = documentOf('prove', stdout);
  expect(proof).toMatchObject({ unsafe: 0, stuck: 0, complete: true, counterExamples: [] });
  expect(proof['worlds']).toMatchObject([{ name: 'short-refusing', unsafe: 0, stuck: 0, complete: true }]);
  expect(Number(proof['states'])).toBeGreaterThan(20_000);
  expect(Number(proof['edges'])).toBeGreaterThan(100_000);
  expect(Number(proof['cpuSeconds'])).toBeGreaterThan(0);
  expect(Number(proof['rssMiB'])).toBeGreaterThan(0);
});

test('a world of another set is refused, with the names of those that there are', async () => {
  const { code, stderr } = await run(['prove', '--set', 'short', '--world', 'household']);
  expect(code).toBe(2);
  expect(stderr).toContain('short-household, neighbours');
});
