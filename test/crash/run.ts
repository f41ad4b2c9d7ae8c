/**
 * `node --import tsx test/crash/run.ts [--long] [--json] [ROW …]`: works the crash table out, with a line per row, and exits 1 when
 * something was lost, or a control lost nothing. A ROW is a name or a group: kills, cuts, damage. Starts itself once more with the shim
 * preloaded.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupOf, matrix, type Row } from './matrix.ts';
import type { Verdict } from './judge.ts';
import { Place } from './place.ts';
import { pointsOf } from './points.ts';
import { compileShim, Control, withShim } from './shim.ts';

const PROGRESS_MS = 10_000;
const EXAMPLES = 3;
const isLong = process.argv.includes('--long');
const isJson = process.argv.includes('--json');
const names = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));

export interface Worked {
  readonly name: string;
  readonly points: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  readonly passed: boolean;
  /** Points that ended as the row does not allow. */
  readonly examples: readonly string[];
  readonly cpuSeconds: number;
  readonly seconds: number;
}

const isWanted = (row: Row): boolean => names.length === 0 || names.includes(row.name) || names.includes(groupOf(row));

async function work(place: Place, row: Row): Promise<Worked> {
  const verdicts = { held: 0, lost: 0, detected: 0, wrong: 0 };
  const examples: string[] = [];
  const [began, cpu] = [performance.now(), cpuSeconds()];
  let told = began;
  let points = 0;
  for await (const { verdict, text, at } of pointsOf(place, row, isLong ? row.long : row.short)) {
    points++;
    verdicts[verdict]++;
    if (!row.allows.includes(verdict) && examples.length < EXAMPLES) examples.push(`${at}: ${verdict}, ${text}`);
    if (performance.now() - told < PROGRESS_MS) continue;
    told = performance.now();
    process.stderr.write(`${row.name}: ${String(points)} points, ${((told - began) / 1000).toFixed(0)} s\n`);
  }
  const passed = examples.length === 0 && row.needs.some((verdict) => verdicts[verdict] > 0);
  const [seconds, spent] = [(performance.now() - began) / 1000, cpuSeconds() - cpu];
  return { name: row.name, points, verdicts, passed, examples, cpuSeconds: spent, seconds };
}

/** Children are not in it. */
const cpuSeconds = (): number =>
  process.resourceUsage().userCPUTime / 1e6 + process.resourceUsage().systemCPUTime / 1e6;

async function table(shim: string): Promise<readonly Worked[]> {
  const place = await Place.open(shim, new Control(process.env['CRASH_CONTROL']!));
  const done: Worked[] = [];
  try {
    for (const row of matrix.filter(isWanted)) {
      const worked = await work(place, row);
      done.push(worked);
      process.stderr.write(`${lineOf(worked)}\n`);
    }
    return done;
  } finally {
    place.close();
  }
}

function lineOf({ name, points, verdicts, passed, examples, seconds }: Worked): string {
  const { held, lost, detected, wrong } = verdicts;
  const counts = [`${String(points)} points`, `${String(held)} held`, `${String(lost)} lost`];
  counts.push(`${String(detected)} detected`, `${String(wrong)} wrong`, `${seconds.toFixed(1)} s`);
  return [`${passed ? 'passed' : 'FAILED'}  ${name}: ${counts.join(', ')}`, ...examples].join('\n        ');
}

/** Starts this file again with the shim. Without a compiler there is nothing to do, and that is said. */
function again(): number {
  const folder = mkdtempSync(join(tmpdir(), 'dacapo-shim-'));
  try {
    const shim = compileShim(folder);
    if (shim === undefined) {
      process.stderr.write(`skipped: gcc is not here, so none of ${String(matrix.length)} rows was worked out\n`);
      if (isJson) process.stdout.write('[]\n');
      return 0;
    }
    const control = new Control(join(folder, 'control'));
    control.close();
    const env = { ...withShim(shim, control.path), CRASH_SHIM: shim };
    return (
      spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1)], { env, stdio: 'inherit' }).status ??
      1
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  const shim = process.env['CRASH_SHIM'];
  if (shim === undefined) return again();
  const done = await table(shim);
  if (isJson) process.stdout.write(`${JSON.stringify(done)}\n`);
  const failed = done.filter(({ passed }) => !passed).length;
  process.stderr.write(`${String(done.length - failed)} passed, ${String(failed)} failed\n`);
  return failed === 0 && done.length > 0 ? 0 : 1;
}

process.exitCode = await main();
