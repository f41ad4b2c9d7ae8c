/**
 * `npm run mutants [-- NAME …]`: applies one bug at a time to a copy of the sources and lets those look at it who must notice: the worlds
 * for the core, named tests for the wire. Prints a table; fails when a mutant survives, or no longer fits the code. A NAME is that of
 * a mutant, a law, or `core` or `wire` for all of one list.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mutants, type Mutant } from './mutantsOfCore.ts';
import { wireMutants, type WireMutant } from './mutantsOfWire.ts';

const root = join(import.meta.dirname, '..');
/** Tests of the wire know what time it is: two at once make each other late. */
const atOnce = (wire: boolean): number => (wire ? 1 : 2);
const LIMIT_MS = 600_000;

type AnyMutant = Mutant | WireMutant;
const isWire = (mutant: AnyMutant): mutant is WireMutant => 'tests' in mutant;

export interface Trial {
  readonly mutant: AnyMutant;
  readonly killed: boolean;
  /** What killed it, or why nothing did. */
  readonly by: string;
}

interface Report {
  readonly bySearch: { readonly steps: number; readonly world: string } | null;
  readonly bySeed: { readonly seed: number; readonly events: number } | null;
  readonly others: readonly string[];
}

/** The file with the bug in it. *Errors*: RangeError when the text does not stand there exactly once. */
export function mutate(text: string, { name, find, replace }: AnyMutant): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new RangeError(`${name}: its text stands ${String(parts.length - 1)} times in the file`);
  return parts.join(replace);
}

/** A copy of everything a trial needs, with the bug in it. */
function copyWith(mutant: AnyMutant): string {
  const directory = copyOf(mutant.name, isWire(mutant) || mutant.byTest === true);
  const path = join(directory, 'src', mutant.file);
  writeFileSync(path, mutate(readFileSync(path, 'utf8'), mutant));
  return directory;
}

function copyOf(name: string, withTests: boolean): string {
  const directory = mkdtempSync(join(tmpdir(), `dacapo-mutant-${name}-`));
  for (const part of ['src', ...(withTests ? ['test', 'vitest.config.ts'] : []), 'package.json'])
    cpSync(join(root, part), join(directory, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

/** Tries one mutant. */
export async function tryMutant(mutant: AnyMutant): Promise<Trial> {
  const directory = copyWith(mutant);
  try {
    if (isWire(mutant)) return await byNamedTests(mutant, directory);
    return mutant.byTest === true ? await byTest(mutant, directory) : await byWorlds(mutant, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const start = promisify(execFile);

async function byWorlds(mutant: Mutant, directory: string): Promise<Trial> {
  const trial = join(root, 'scripts/mutantsTrial.ts');
  try {
    const { stdout } = await start(process.execPath, ['--import', 'tsx', trial, directory, mutant.law], {
      timeout: LIMIT_MS,
      cwd: root,
    });
    return verdict(mutant, JSON.parse(stdout) as Report);
  } catch (error) {
    const words = error instanceof Error ? error.message.split('\n').slice(0, 6).join(' ') : String(error);
    return { mutant, killed: false, by: `no verdict: ${words}` };
  }
}

function verdict(mutant: Mutant, { bySearch, bySeed, others }: Report): Trial {
  const searched = bySearch === null ? null : `prove in ${String(bySearch.steps)} steps (${bySearch.world})`;
  const seeded = bySeed === null ? null : `seed ${String(bySeed.seed)} at event ${String(bySeed.events)}`;
  const by = [searched, seeded].filter((one) => one !== null).join(', ');
  const also = others.length === 0 ? '' : `; also ${others.join(' ')}`;
  return { mutant, killed: by !== '', by: `${by === '' ? 'survived' : by}${also}` };
}

/** The law's own test must fail on the copy. */
async function byTest(mutant: Mutant, directory: string): Promise<Trial> {
  const number = mutant.law.slice(1).padStart(2, '0');
  try {
    await start(join(root, 'node_modules/.bin/vitest'), ['run', `test/properties/l${number}-`], {
      timeout: LIMIT_MS,
      cwd: directory,
    });
    return { mutant, killed: false, by: 'survived its test' };
  } catch {
    return { mutant, killed: true, by: `test/properties/l${number}-*` };
  }
}

/** What vitest reports, as far as it is read. */
interface TestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** One of the named tests must fail on the copy, and say which. */
async function byNamedTests(mutant: WireMutant, directory: string): Promise<Trial> {
  const failed = await failedIn(directory, mutant.tests);
  return { mutant, killed: failed !== null, by: failed ?? `survived ${mutant.tests.join(' ')}` };
}

/** The first test that fails, or why they did not run; null when all pass. */
async function failedIn(directory: string, tests: readonly string[]): Promise<string | null> {
  const report = join(directory, 'report.json');
  const files = tests.map((test) => `test/${test}`);
  const args = ['run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...files];
  try {
    await start(join(root, 'node_modules/.bin/vitest'), args, { timeout: LIMIT_MS, cwd: directory });
    return null;
  } catch {
    return existsSync(report) ? firstFailure(JSON.parse(readFileSync(report, 'utf8')) as TestReport) : 'it never ended';
  }
}

function firstFailure({ testResults }: TestReport): string {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.find(({ status }) => status === 'failed');
  return (
    failed?.fullName ??
    testResults
      .map(({ message }) => message)
      .join(' ')
      .slice(0, 200)
  );
}

/** A copy without a bug passes: otherwise a failure would prove nothing. */
async function checkTests(chosen: readonly AnyMutant[]): Promise<void> {
  const tests = [...new Set(chosen.filter(isWire).flatMap((mutant) => mutant.tests))];
  if (tests.length === 0) return;
  const directory = copyOf('none', true);
  const failed = await failedIn(directory, tests);
  rmSync(directory, { recursive: true, force: true });
  if (failed !== null) throw new Error(`fails without a bug: ${failed}`);
}

const groupOf = (mutant: AnyMutant): string => (isWire(mutant) ? 'wire' : mutant.law);

async function main(names: readonly string[]): Promise<number> {
  const wanted = (mutant: AnyMutant): boolean =>
    names.length === 0 ||
    [mutant.name, groupOf(mutant), isWire(mutant) ? 'wire' : 'core'].some((name) => names.includes(name));
  const chosen = [...mutants, ...wireMutants].filter(wanted);
  await checkTests(chosen);
  const core = await tryAll(
    chosen.filter((mutant) => !isWire(mutant)),
    atOnce(false),
  );
  const trials = [...core, ...(await tryAll(chosen.filter(isWire), atOnce(true)))];
  const survivors = trials.filter(({ killed }) => !killed);
  process.stdout.write(`${String(trials.length - survivors.length)} passed, ${String(survivors.length)} failed\n`);
  return survivors.length === 0 && trials.length > 0 ? 0 : 1;
}

async function tryAll(chosen: readonly AnyMutant[], workers: number): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  const queue = [...chosen];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const trial = await tryMutant(next);
      trials.push(trial);
      process.stdout.write(
        `${trial.killed ? 'killed  ' : 'SURVIVED'}  ${groupOf(next).padEnd(4)}  ${next.name}: ${trial.by}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return trials;
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
