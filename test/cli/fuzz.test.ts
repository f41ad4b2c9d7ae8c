/** Worlds from the command line: shared by processes, kept as logs, and run until the time is over. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../support/commandLine.ts';
import { documentOf } from '../support/documents.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dacapo-fuzz-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a seed kept as a log is replayed to the state that its world ended in, and the command that keeps it is printed', async () => {
  const file = join(folder, 'seed-7.jsonl');
  expect((await run(['simulate', '--seed', '7', '--log', file])).code).toBe(0);
  const replayed = await run(['replay', file, '--json']);
  expect(replayed.code).toBe(0);
  const { stateHash, divergence, differences } = documentOf('replay', replayed.stdout);
  const last = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(last.some((line) => line.includes(String(stateHash)))).toBe(true);
  expect([divergence, differences]).toEqual([null, []]);
});

test('seeds shared by two processes give what one gives', { timeout: 60_000 }, async () => {
  const args = ['simulate', '--seed', '1', '--runs', '200', '--steps', '20', '--json'];
  const [one, two] = [await run([...args, '--processes', '1']), await run([...args, '--processes', '2'])];
  expect([one.code, two.code]).toEqual([0, 0]);
  const { cpuSeconds: _, ...alone } = documentOf('simulate', one.stdout);
  const { cpuSeconds: __, ...shared } = documentOf('simulate', two.stdout);
  expect(shared).toEqual(alone);
  expect(Number(alone['events'])).toBeGreaterThan(1_000);
});

test('fuzz runs until its time is over and says where the worlds have been', { timeout: 60_000 }, async () => {
  const { code, stdout, stderr } = await run(['fuzz', '--minutes', '0.01', '--seed', '5', '--processes', '1']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/250 worlds, \d+ events, \d+ a minute and core, 0 violations, 0\.0 minutes left/);
  expect(stdout).toMatch(/^fault +times\n/);
  expect(stdout).toMatch(/hint-lost +[1-9]/);
  expect(stdout).toMatch(/\n250 worlds from seed 5: 0 violations, 0 did not converge\n$/);
});

test.each([['0'], ['-1'], ['soon'], ['9999']])('minutes of %s are refused with what is expected', async (minutes) => {
  const { code, stderr } = await run(['fuzz', '--minutes', minutes]);
  expect(code).toBe(2);
  expect(stderr).toContain('minutes from above 0 to 1440 are expected');
});
