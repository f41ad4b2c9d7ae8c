import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { EXIT, verdictOf } from '../../src/cli/exit.ts';
import { pathsOf } from '../../src/cli/paths.ts';
import { namedErrors } from '../../src/host/control.ts';
import { dacapo, run } from '../support/commandLine.ts';
import { documentOf } from '../support/documents.ts';

// Every command is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

const state = mkdtempSync(join(tmpdir(), 'dacapo-usage-'));
afterAll(() => {
  rmSync(state, { recursive: true });
});

test('help goes to stdout, ends with 0 and names the exit codes', async () => {
  const { code, stdout, stderr } = await run(['--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/Usage: dacapo[^]*Exit codes: 0 ok/);
});

test.each([[['nonsense']], [['--nonsense']], [['paths', 'extra']], [['log']], [['log', 'show', '--from', '-1']], [[]]])(
  '%j is a usage error: 2, on stderr, with where to read on',
  async (args) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([EXIT.usage, '']);
    expect(stderr).toMatch(/--help|Usage/);
  },
);

test.each([
  [['why'], 'dacapo why --help'],
  [['log', 'export'], 'dacapo log export --help'],
  [['demo', 'key', 'accept'], 'dacapo demo key accept --help'],
])('the help that %j points to can be pasted', async (args, hint) => {
  expect((await run(args)).stderr).toContain(`(see: ${hint})`);
});

const nowhere = ['--state', join(state, 'nobody')];
test.each([
  [['status', ...nowhere], EXIT.unavailable],
  [['connect', 'everything', ...nowhere], EXIT.unavailable],
  [['demo', 'hints', 'off', ...nowhere], EXIT.unavailable],
  [['demo', 'revoke', 'everything', '--account', 'ann', ...nowhere], EXIT.unavailable],
  [['demo', 'hints', 'sometimes', ...nowhere], EXIT.usage],
  [['call', 'x__y', '--args', '[1]', ...nowhere], EXIT.usage],
  [['connect', 'everything', '--secret-stdin', ...nowhere], EXIT.usage],
  [['gateway', '--config', join(state, 'absent.yaml')], EXIT.usage],
  [['prove', '--world', 'nowhere'], EXIT.usage],
  [['simulate', '--seed', '1', '--runs', '0'], EXIT.usage],
  [['simulate', '--seed', '1', '--steps', '0'], EXIT.usage],
  [['fuzz', '--minutes', '1', '--processes', '0'], EXIT.usage],
  ...[['status'], ['up'], ['daemon'], ['log', 'verify']].map(
    (command) => [[...command, '--state', import.meta.filename], EXIT.usage] as const,
  ),
  [['up', '--poll', '1'], EXIT.usage],
  [['up', '--state', join(state, 'x'.repeat(90))], EXIT.usage],
] as const)('%j ends with %i, a reason and a next step', async (args, expected) => {
  const { code, stdout, stderr } = await run(args, { XDG_CONFIG_HOME: state });
  expect([code, stdout]).toEqual([expected, '']);
  expect(stderr).toMatch(/error: .+/);
});

test('a state directory that is a file is named as one, also when it should lie in it', async () => {
  for (const below of ['', 'state']) {
    const { stderr } = await run(['up', '--state', join(import.meta.filename, below)]);
    expect(stderr).toContain(`${import.meta.filename} is a file`);
  }
});

test('doctor tries the disk of the state directory, and leaves nothing there', async () => {
  const disk = join(state, 'disk');
  mkdirSync(disk, { mode: 0o700 });
  const doctor = (limit: string) => {
    // A process that may write no file of a megabyte stands for a disk that takes none.
    const { status, stdout } = spawnSync(
      'sh',
      ['-c', `ulimit -f ${limit}; exec "$@"`, 'sh', ...dacapo, 'doctor', '--json', '--state', disk],
      { encoding: 'utf8' },
    );
    const { checks } = documentOf('doctor', stdout) as { checks: { name: string; ok: boolean; text: string }[] };
    return { status, sqlite: checks.find(({ name }) => name === 'sqlite') };
  };
  expect(doctor('unlimited')).toMatchObject({ status: EXIT.ok, sqlite: { ok: true } });
  expect(doctor('1000')).toMatchObject({
    status: EXIT.problems,
    sqlite: { ok: false, text: expect.stringContaining(disk) as string },
  });
  expect(readdirSync(disk)).toEqual(['up.lock']);
});

test('a file that finds no room wants room', () => {
  for (const code of ['ENOSPC', 'EDQUOT'])
    expect(verdictOf({ name: 'Error', code })).toMatchObject({
      exit: EXIT.unavailable,
      next: expect.stringContaining('free space') as string,
    });
});

test('what a file system refuses is no fault of ours to report', () => {
  const codes = ['EACCES', 'EPERM', 'EROFS', 'EFBIG', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG', 'EMFILE', 'EIO'];
  for (const code of codes)
    expect([code, verdictOf({ name: 'Error', code }).next]).toEqual([code, expect.not.stringContaining('report it')]);
});

test('a reader that goes away is no error', async () => {
  const [program, ...first] = dacapo;
  const child = spawn(program, [...first, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([EXIT.ok, null]);
});

test('an error says what is wrong and what to do next, on stderr', async () => {
  const { code, stdout, stderr } = await run(['log', 'verify', '--state', state]);
  expect([code, stdout]).toEqual([EXIT.unavailable, '']);
  expect(stderr).toMatch(/error: there is no log at .*\n {2}next: /);
});

test('--json prints one document with its schema version, wherever it stands', async () => {
  for (const args of [
    ['--json', 'paths', '--state', state],
    ['paths', '--state', state, '--json'],
  ]) {
    const { code, stdout } = await run(args);
    expect(code).toBe(0);
    expect(documentOf('paths', stdout)).toMatchObject({ schemaVersion: 1, state, log: join(state, 'log.sqlite') });
  }
});

test('a variable of the XDG rules counts only when it is an absolute path', () => {
  const home = { HOME: '/h/ann' };
  expect(pathsOf({ ...home, XDG_STATE_HOME: '/var/x' }).state).toBe('/var/x/dacapo');
  expect(pathsOf({ ...home, XDG_STATE_HOME: 'x' }).state).toBe('/h/ann/.local/state/dacapo');
  expect(pathsOf({ ...home, DACAPO_STATE: '/s' }).state).toBe('/s');
  expect(pathsOf({ ...home, DACAPO_STATE: '/s' }, '/named').controlSocket).toBe('/named/control.sock');
});

test.each([
  ['session', EXIT.unauthorized],
  ['forbidden', EXIT.unauthorized],
  ['signed-out', EXIT.unauthorized],
  ['limited', EXIT.unavailable],
  ['unavailable', EXIT.unavailable],
  ['conflict', EXIT.conflict],
  ['busy', EXIT.conflict],
  ['refused', EXIT.failed],
])('a connector that is not connected because of %s has its own exit code', (reason, exit) => {
  const refused = { kind: 'AuthorizationRefused', name: 'ControlRefused', reason };
  expect(verdictOf(refused).exit).toBe(exit);
  expect(verdictOf(refused).next).not.toContain('--verbose');
});

test('a store that is refused is told apart: only a newer one is a matter of the release', () => {
  const step = (reason: string) => verdictOf({ name: 'StoreRefused', reason }).next;
  const reasons = ['newer', 'in-use', 'damaged', 'key'];
  expect(reasons.filter((reason) => step(reason).includes('release'))).toEqual(['newer']);
});

test('every error that a daemon names has a next step of its own', () => {
  const unknown = verdictOf(new Error('x')).next;
  const steps = [...namedErrors].map((kind) => [kind, verdictOf({ kind, name: 'ControlRefused' }).next]);
  expect(steps.filter(([, next]) => next === unknown)).toEqual([]);
});

test('an error that nobody knows is a failure with a next step', () => {
  expect(verdictOf(new Error('x')).exit).toBe(EXIT.failed);
  expect(verdictOf(undefined).next).toContain('--verbose');
  expect(verdictOf({ name: '__proto__', code: 'constructor' }).exit).toBe(EXIT.failed);
});
