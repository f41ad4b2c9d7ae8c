/**
 * The crash table in its short form: a real log, killed, refused and cut off at points spread over everything it writes. The long form,
 * at every point, is `npm run proof -- kills cuts damage`.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { matrix } from './matrix.ts';
import type { Worked } from './run.ts';

let table: ReadonlyMap<string, Worked>;
beforeAll(async () => {
  const args = ['--import', 'tsx', join(import.meta.dirname, 'run.ts'), '--json'];
  // It exits with 1 when a row failed, and says which on stdout all the same.
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: unknown) => error as { stdout: string },
  );
  table = new Map((JSON.parse(stdout) as readonly Worked[]).map((worked) => [worked.name, worked]));
}, 300_000);

test.for(matrix)('$name', ({ name, short }, { skip }) => {
  if (table.size === 0) skip('gcc is not here');
  const worked = table.get(name)!;
  expect(worked.examples).toEqual([]);
  expect(worked.passed).toBe(true);
  expect(worked.points).toBeGreaterThanOrEqual(Number.isFinite(short) ? short / 2 : 100);
});
