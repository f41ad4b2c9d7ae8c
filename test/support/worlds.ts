/**
 * Worlds for the laws: fast-check draws seed, length and the set of faults, and shrinks them when a law is broken; everything else
 * is drawn by the world itself. Counts where the worlds have been, because a law that was never put to the test has not held.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { faultNames, run, type Fault, type Law, type RunOptions } from '../../src/simulate/index.ts';

export interface Been {
  /** Faults and places of this list at which no world has been. */
  missed(...names: readonly string[]): readonly string[];
}

export interface Worlds extends Partial<Omit<RunOptions, 'seed' | 'faults'>> {
  readonly runs?: number;
  /** Always switched on, so that shrinking can't take away what the law is about. */
  readonly always?: readonly Fault[];
}

/** One seed for every machine; another one to look further. */
const SEED = Number(process.env['DACAPO_SEED'] ?? 20_260);

/** Throws with the smallest world found in which the law is broken. */
export async function holds(law: Law, { runs = 25, always = [], ...fixed }: Worlds = {}): Promise<Been> {
  const counts = new Map<string, number>();
  const world = fc.record({
    seed: fc.integer({ min: 1, max: 0x7fffffff }),
    steps: fc.integer({ min: 30, max: 200 }),
    faults: fc.subarray([...faultNames], { minLength: 0 }),
  });
  const property = fc.asyncProperty(world, async ({ seed, steps, faults }) => {
    const allowed = [...new Set([...faults, ...always])];
    const outcome = await run({ calm: seed % 2 === 0, ...fixed, seed, steps, faults: allowed });
    for (const [name, count] of [...outcome.faults, ...outcome.places])
      counts.set(name, (counts.get(name) ?? 0) + count);
    const broken = outcome.violations.find((violation) => violation.law === law || violation.law === 'core');
    if (broken !== undefined) throw new Error(`${broken.law} at position ${String(broken.position)}: ${broken.text}`);
  });
  await fc.assert(property, { numRuns: runs, seed: SEED, endOnFailure: false });
  return { missed: (...names) => names.filter((name) => (counts.get(name) ?? 0) === 0) };
}

/** The digest of seed 7 as another process finds it, in an environment of its own. */
export async function digestIn(environment: Readonly<Record<string, string>>): Promise<string> {
  const script = join(import.meta.dirname, 'digestOfSeed.ts');
  const options = { env: { ...process.env, ...environment } };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, '7'], options);
  return stdout.trim();
}
