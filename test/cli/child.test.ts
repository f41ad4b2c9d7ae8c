import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CommandError, EXIT } from '../../src/cli/exit.ts';
import { retryDelayMs, superviseChild, type Child, type ChildOptions } from '../../src/cli/up/child.ts';

let folder = '';
let child: Child | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dacapo-child-'));
});
afterEach(async () => {
  await child?.stop();
  rmSync(folder, { recursive: true });
});

const serving =
  "console.log(JSON.stringify({ ready: true, pid: process.pid })); process.on('disconnect', () => process.exit());";
function supervise(script: string, more: Partial<ChildOptions> = {}): Child {
  child = superviseChild({
    name: 'one',
    command: [process.execPath, '-e', script],
    logFile: join(folder, 'log'),
    ...more,
  });
  return child;
}
const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !holds(); i++) await after(25);
  expect(holds()).toBe(true);
}

test('a child is ready when it says so, and gone when it is stopped', async () => {
  const one = supervise(serving);
  expect(await one.ready).toMatchObject({ ready: true, pid: one.pid });
  const pid = one.pid ?? 0;
  await one.stop();
  expect([alive(pid), one.pid]).toEqual([false, null]);
});

test('a child that is killed lives again', async () => {
  const deaths: string[] = [];
  const one = supervise(serving, { onDeath: (how) => deaths.push(how) });
  await one.ready;
  const first = one.pid ?? 0;
  process.kill(first, 'SIGKILL');
  await until(() => one.pid !== null && one.pid !== first);
  expect(deaths).toEqual(['SIGKILL']);
});

test('a child whose program is away for a moment lives again when it is back', async () => {
  const program = join(folder, 'node');
  symlinkSync(process.execPath, program);
  const deaths: string[] = [];
  const one = supervise(serving, { command: [program, '-e', serving], onDeath: (how) => deaths.push(how) });
  await one.ready;
  rmSync(program);
  process.kill(one.pid ?? 0, 'SIGKILL');
  await until(() => deaths.includes('ENOENT'));
  expect(one.pid).toBe(null);
  symlinkSync(process.execPath, program);
  await until(() => one.pid !== null);
});

test('a child whose program is not there at all is an error of its start', async () => {
  const one = supervise(serving, { command: [join(folder, 'nothing'), 'x'] });
  await expect(one.ready).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a child that will not start is given up, with what it said', async () => {
  const one = supervise("console.error('no such disk'); process.exit(1)");
  await expect(one.ready).rejects.toThrow(/did not start \(exit code 1\)[^]*no such disk/);
});

test.each([EXIT.usage, EXIT.problems, EXIT.conflict])('exit code %i is not tried again and is ours', async (code) => {
  const deaths: string[] = [];
  const one = supervise(`process.exit(${String(code)})`, { onDeath: (how) => deaths.push(how) });
  const error = await one.ready.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CommandError);
  expect([(error as CommandError).exit, deaths]).toEqual([code, []]);
});

test('a child that ignores SIGTERM is ended all the same', async () => {
  const one = supervise(`process.on('SIGTERM', () => {}); ${serving} setInterval(() => {}, 1000);`, {
    killAfterMs: 200,
  });
  await one.ready;
  const pid = one.pid ?? 0;
  await one.stop();
  expect(alive(pid)).toBe(false);
});

test('a child knows nothing of our environment but the common names', async () => {
  process.env['DACAPO_PLANTED'] = 'secret-in-our-environment';
  const one = supervise(
    `require('fs').writeFileSync(${JSON.stringify(join(folder, 'env'))}, JSON.stringify(process.env)); ${serving}`,
  );
  await one.ready;
  delete process.env['DACAPO_PLANTED'];
  const known = Object.keys(JSON.parse(readFileSync(join(folder, 'env'), 'utf8')) as object);
  expect(known).toContain('PATH');
  expect(known.filter((name) => /DACAPO|TOKEN|SECRET|VITEST/.test(name))).toEqual([]);
});

test('the pause between two lives doubles up to ten seconds', () => {
  expect([1, 2, 3, 7, 8, 1000].map(retryDelayMs)).toEqual([100, 200, 400, 6400, 10_000, 10_000]);
});
