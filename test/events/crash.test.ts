/** The log on disk beside real processes, kills and disk errors. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LogConflict, openSqliteLog, openSqliteLogReadOnly } from '../../src/events/index.ts';
import { compileChild, removeChildren } from './child/compile.ts';
import { spawnAppender, type Appender } from './child/spawn.ts';
import { folder } from './samples.ts';

const KILLS = 10;
let script = '';
beforeAll(async () => {
  script = await compileChild('events/child/appender.ts');
});
afterAll(removeChildren);

const headOf = (line: string | undefined): number => Number(line?.split(' ')[1]);

it('kill -9 while appending loses nothing that was acknowledged, and breaks no batch', async () => {
  const path = join(folder(), 'log.db');
  let acknowledged = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const appender = spawnAppender(script, 'forever', path);
    expect(headOf(await appender.next())).toBeGreaterThanOrEqual(acknowledged);
    await sleep(7 * kill);
    acknowledged = headOf([await appender.next(), ...(await appender.kill())].at(-1));
    const log = await openSqliteLog(path);
    expect(log.head).toBeGreaterThanOrEqual(acknowledged);
    expect([log.positionOf(`p-${acknowledged}`), log.verify().broken]).toEqual([acknowledged, null]);
    log.close();
  }
}, 120_000);

it('another process is refused while one owns the log, may read it, and gets it after a kill', async () => {
  const path = join(folder(), 'log.db');
  const owner = spawnAppender(script, 'steps', path);
  await owner.next();
  await owner.ask('append 3');
  await expect(openSqliteLog(path)).rejects.toThrow(LogConflict);
  const reader = await openSqliteLogReadOnly(path);
  expect([...reader.read()].map(({ id }) => id)).toEqual(['p-1', 'p-2', 'p-3']);
  await owner.ask('append 2');
  expect([reader.head, reader.verify().broken]).toEqual([5, null]);
  reader.close();
  await owner.kill();
  const log = await openSqliteLog(path);
  expect(log.head).toBe(5);
  log.close();
});

it('a disk that takes no more refuses the batch whole, and takes it once there is room', async (test) => {
  const path = join(folder(), 'log.db');
  const owner = spawnAppender(script, 'steps', path);
  await owner.next();
  const limit = (bytes: string) => spawnSync('prlimit', ['--pid', String(owner.pid), `--fsize=${bytes}`]).status;
  if (limit('400000:') !== 0) test.skip('prlimit is not here');
  const full = await appendUntilRefused(owner);
  limit('unlimited:');
  expect(await owner.ask('append 100')).toBe(`head ${full + 100}`);
  expect(await owner.ask('verify')).toBe('verified null');
});

/** Appends until two batches in a row are refused (one may be, and give room by emptying the WAL); returns the head. */
async function appendUntilRefused(owner: Appender): Promise<number> {
  const lines = [await owner.ask('append 100')];
  while (!lines.slice(-2).every((line) => line.startsWith('unavailable')) || lines.length < 2) {
    const [before, line] = [headOf(lines.at(-1)), await owner.ask('append 100')];
    expect(line).toBe(line.startsWith('head') ? `head ${before + 100}` : `unavailable ${before}`);
    lines.push(line);
  }
  return headOf(lines.at(-1));
}
