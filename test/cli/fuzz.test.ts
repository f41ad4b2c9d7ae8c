/** Worlds from the command line: shared by processes, kept as logs, and run until the time is over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { keepFirst } from '../../src/cli/commands/fuzz.ts';
import { EXIT } from '../../src/cli/exit.ts';
import { dacapo, run } from '../support/commandLine.ts';
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

test.each([
  ['fuzz', '--minutes', '60', '--out'],
  ['simulate', '--seed', '7', '--runs', '100000', '--log'],
])('where a log is to be kept is tried before the run: %s', async (...args) => {
  const place = args[0] === 'fuzz' ? join(folder, 'absent') : join(folder, 'absent', 'seed.jsonl');
  const { code, stdout, stderr } = await run([...args, place]);
  expect([code, stdout]).toEqual([EXIT.usage, '']);
  expect(stderr).toMatch(/no log can be kept in .*absent: ENOENT[^]*next: make that folder writable/);
});

test('a folder is no log to write to, and what was tried leaves nothing behind', async () => {
  const place = join(folder, 'place');
  mkdirSync(place);
  const { code, stderr } = await run(['simulate', '--seed', '7', '--log', place]);
  expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining(`${place} is a folder`)]);
  await run(['simulate', '--seed', '7', '--steps', '1', '--log', join(place, 'seed.jsonl')]);
  expect(readdirSync(place)).toEqual(['seed.jsonl']);
});

test('a log that cannot be kept in the end hides no seed', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const violations = [{ seed: 7, law: 'L1', position: 1, text: '' }];
  const done = { runs: 1, events: 1, violations, nonConverged: 0, faults: {}, places: {}, cpuSeconds: 0 };
  expect(await keepFirst(done, join(folder, 'gone'))).toBe(null);
  expect(said.mock.lastCall?.[0]).toMatch(/seed 7 can't be kept: ENOENT.*\n {2}next: dacapo simulate --seed 7 /);
  said.mockRestore();
  expect(await keepFirst(done, folder)).toBe(join(folder, 'seed-7.jsonl'));
});

test('a fuzz that is told to stop says how far it came', { timeout: 60_000 }, async () => {
  const [program, ...first] = dacapo;
  const child = spawn(program, [...first, 'fuzz', '--minutes', '60', '--seed', '5', '--processes', '1']);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([EXIT.interrupted, null]);
  expect(said).toMatch(/\n250 worlds from seed 5: 0 violations, 0 did not converge\n$/);
});
