/**
 * `npm run mutants [-- NAME …]`: applies one bug at a time to a copy of the sources and lets those look at it who must notice: the worlds
 * for the core, named tests for the log and the wire. Prints a table; fails when a mutant survives, or no longer fits the code. A NAME
 * is that of a mutant, a law, or a list (`core`, `log`, `wire`); `--write` puts what was found into docs/MUTANTS.md.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mutants, type Mutant } from './mutantsOfCore.ts';
import { logMutants } from './mutantsOfLog.ts';
import { wireMutants, type TestedMutant } from './mutantsOfWire.ts';
import { TABLE, tableWith } from './mutantsTable.ts';

const root = join(import.meta.dirname, '..');
const LIMIT_MS = 600_000;

type AnyMutant = Mutant | TestedMutant;
interface List {
  readonly list: string;
  readonly mutants: readonly AnyMutant[];
  readonly atOnce: number;
}
/** Tests of the wire know what time it is: two at once make each other late. */
const lists: readonly List[] = [
  { list: 'core', mutants, atOnce: 2 },
  { list: 'log', mutants: logMutants, atOnce: 2 },
  { list: 'wire', mutants: wireMutants, atOnce: 1 },
];
const isTested = (mutant: AnyMutant): mutant is TestedMutant => 'tests' in mutant;

/** Tests that must notice it, below test/; of the core only where no world does. */
function testsOf(mutant: AnyMutant): readonly string[] {
  if (isTested(mutant)) return mutant.tests;
  if (mutant.byTest !== true) return [];
  const prefix = `l${mutant.law.slice(1).padStart(2, '0')}-`;
  const files = readdirSync(join(root, 'test/properties')).filter((file) => file.startsWith(prefix));
  return files.map((file) => `properties/${file}`);
}

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
  const directory = copyOf(mutant.name, testsOf(mutant).length > 0);
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
    const tests = testsOf(mutant);
    if (isTested(mutant) || tests.length > 0) return await byTests(mutant, tests, directory);
    return await byWorlds(mutant, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const start = promisify(execFile);

/** The shortest trace that the exhaustive walk finds of a mutant of the core, or null. */
export async function searchMutant(mutant: Mutant): Promise<Report['bySearch']> {
  const directory = copyWith(mutant);
  try {
    return (await lookAt(mutant, directory, 'search')).bySearch;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function lookAt({ law }: Mutant, directory: string, how: 'search' | 'all'): Promise<Report> {
  const trial = join(root, 'scripts/mutantsTrial.ts');
  const args = ['--import', 'tsx', trial, directory, law, how];
  const { stdout } = await start(process.execPath, args, { timeout: LIMIT_MS, cwd: root });
  return JSON.parse(stdout) as Report;
}

async function byWorlds(mutant: Mutant, directory: string): Promise<Trial> {
  try {
    return verdict(mutant, await lookAt(mutant, directory, 'all'));
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

/** What vitest reports, as far as it is read. */
interface TestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** One of the named tests must fail on the copy, and say which. Tests that could not be run say nothing. */
async function byTests(mutant: AnyMutant, tests: readonly string[], directory: string): Promise<Trial> {
  const { outcome, text } = await runTests(directory, tests);
  const by = { passed: `survived ${tests.join(' ')}`, failed: text, 'not run': `no verdict: ${text}` };
  return { mutant, killed: outcome === 'failed', by: by[outcome] };
}

interface TestsRun {
  readonly outcome: 'passed' | 'failed' | 'not run';
  /** The first test that failed, or why they were not run. */
  readonly text: string;
}

async function runTests(directory: string, tests: readonly string[]): Promise<TestsRun> {
  const report = join(directory, 'report.json');
  const files = tests.map((test) => `test/${test}`);
  const args = ['run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...files];
  try {
    await start(join(root, 'node_modules/.bin/vitest'), args, { timeout: LIMIT_MS, cwd: directory });
    return { outcome: 'passed', text: '' };
  } catch {
    if (!existsSync(report)) return { outcome: 'not run', text: 'it never ended' };
    return firstFailure(JSON.parse(readFileSync(report, 'utf8')) as TestReport);
  }
}

/** A file that does not load has no test that failed: a bug that is no TypeScript would be noticed by anything. */
function firstFailure({ testResults }: TestReport): TestsRun {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { outcome: 'failed', text: failed.fullName };
  const messages = testResults.map(({ message }) => message).join(' ');
  return { outcome: 'not run', text: messages.slice(0, 200) };
}

/** A copy without a bug passes: otherwise a failure would prove nothing. */
async function checkTests(chosen: readonly AnyMutant[]): Promise<void> {
  const tests = [...new Set(chosen.flatMap(testsOf))];
  if (tests.length === 0) return;
  const directory = copyOf('none', true);
  const { outcome, text } = await runTests(directory, tests);
  rmSync(directory, { recursive: true, force: true });
  if (outcome !== 'passed') throw new Error(`fails without a bug: ${text}`);
}

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => arg !== '--write');
  const chosen = lists.map((one) => ({ ...one, mutants: wantedOf(one, names) }));
  await checkTests(chosen.flatMap((one) => one.mutants));
  const trials: Trial[] = [];
  for (const { mutants: wanted, atOnce } of chosen) trials.push(...(await tryAll(wanted, atOnce)));
  const survivors = trials.filter(({ killed }) => !killed);
  if (args.includes('--write')) writeTable(trials);
  process.stdout.write(`${String(trials.length - survivors.length)} passed, ${String(survivors.length)} failed\n`);
  return survivors.length === 0 && trials.length > 0 ? 0 : 1;
}

function wantedOf({ list, mutants: all }: List, names: readonly string[]): readonly AnyMutant[] {
  return all.filter(({ name, law = '' }) => names.length === 0 || [name, law, list].some((one) => names.includes(one)));
}

/** What this run has not tried stands as it was. */
function writeTable(trials: readonly Trial[]): void {
  const path = join(root, TABLE);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const found = trials.map(({ mutant, killed, by }) => [mutant.name, killed ? by : 'SURVIVED'] as const);
  writeFileSync(path, tableWith(before, new Map(found)));
}

async function tryAll(chosen: readonly AnyMutant[], workers: number): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  const queue = [...chosen];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const trial = await tryMutant(next);
      trials.push(trial);
      process.stdout.write(
        `${trial.killed ? 'killed  ' : 'SURVIVED'}  ${(next.law ?? 'wire').padEnd(4)}  ${next.name}: ${trial.by}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return trials;
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
