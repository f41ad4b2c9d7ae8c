/** What becomes of a command whose stdout or stderr takes nothing: its verdict is never lost to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EXIT } from '../../src/cli/exit.ts';
import { exportLines, memoryLog, openSqliteLog, writeLines } from '../../src/events/index.ts';
import { dacapo } from '../support/commandLine.ts';

// Every command is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'dacapo-streams-'));
const file = (name: string): string => join(folder, `${name}.jsonl`);
const state = join(folder, 'state');

function* polls(count: number) {
  for (let at = 1; at <= count; at++)
    yield { type: 'clock.ticked', data: { reason: 'poll' }, id: `p${String(at)}`, at, cause: null } as const;
}

beforeAll(async () => {
  const log = memoryLog();
  log.append([...polls(3)]);
  writeLines(file('plain'), exportLines(log, { package: '1' }));
  log.mark(log.head, '0'.repeat(64));
  writeLines(file('diverging'), exportLines(log, { package: '1' }));
  mkdirSync(state);
  const own = await openSqliteLog(join(state, 'log.sqlite'));
  own.append([...polls(5_000)]);
  own.close();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Runs a command of which nobody reads `name`, from the start. */
async function unread(name: 'stdout' | 'stderr', args: readonly string[]) {
  const [program, ...first] = dacapo;
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let read = '';
  const other = name === 'stdout' ? child.stderr : child.stdout;
  other.setEncoding('utf8').on('data', (text: string) => (read += text));
  child[name].destroy();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, read };
}

test.each([
  ['replay', file('diverging')],
  ['replay', file('diverging'), '--json'],
  ['diff', file('diverging')],
])('a reader that goes away does not hide a verdict: %s', async (...args) => {
  expect((await unread('stdout', args)).code).toBe(EXIT.problems);
});

test.each([
  ['replay', file('plain')],
  ['log', 'show', '--state', state],
  ['log', 'show', '--transcript', '--state', state],
])('a reader that goes away while all is well is no error: %s', async (...args) => {
  expect(await unread('stdout', args)).toEqual({ code: EXIT.ok, read: '' });
});

test('a closed stderr hides no verdict, and ends no run', async () => {
  expect((await unread('stderr', ['replay', file('absent')])).code).toBe(EXIT.usage);
  const { code, read } = await unread('stderr', ['fuzz', '--minutes', '0.01', '--seed', '5', '--processes', '1']);
  expect([code, read]).toEqual([EXIT.ok, expect.stringContaining('250 worlds from seed 5')]);
});

/** Runs a command whose stdout is a file that it may only read. */
async function refused(args: readonly string[]) {
  const [program, ...first] = dacapo;
  const stdout = openSync(file('plain'), 'r');
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', stdout, 'pipe'] });
  closeSync(stdout);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

test.each([
  ['paths', '--json'],
  ['paths'],
  ['--help'],
  ['replay', file('plain')],
  ['replay', file('plain'), '--json'],
  ['log', 'show', '--state', state],
  ['log', 'verify', '--json', '--state', state],
])('a stdout that takes nothing is a failure, said once, with a next step: %s', async (...args) => {
  const { code, stderr } = await refused(args);
  expect([code, stderr]).toEqual([
    EXIT.failed,
    expect.stringMatching(/^error: stdout can't be written: .*\n {2}next: .*\n$/),
  ]);
});

test('what was found counts for more than what became of its text', async () => {
  const { code, stderr } = await refused(['diff', file('diverging'), '--json']);
  expect([code, stderr]).toEqual([EXIT.problems, expect.stringContaining("stdout can't be written")]);
});
