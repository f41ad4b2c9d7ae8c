/**
 * `npm run mutants [-- NAME …]`: applies one bug at a time to a copy of the core and lets the worlds look at it. Prints a table;
 * fails when a mutant survives, or no longer fits the code.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mutants, type Mutant } from './mutantsOfCore.ts';

const root = join(import.meta.dirname, '..');
const AT_ONCE = 2;
const LIMIT_MS = 600_000;

export interface Trial {
  readonly mutant: Mutant;
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
export function mutate(text: string, { name, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new RangeError(`${name}: its text stands ${String(parts.length - 1)} times in the file`);
  return parts.join(replace);
}

/** A copy of everything a trial needs, with the bug in it. */
function copyWith(mutant: Mutant): string {
  const directory = mkdtempSync(join(tmpdir(), `dacapo-mutant-${mutant.name}-`));
  for (const name of ['src', ...(mutant.byTest === true ? ['test', 'vitest.config.ts'] : []), 'package.json'])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const path = join(directory, 'src', mutant.file);
  writeFileSync(path, mutate(readFileSync(path, 'utf8'), mutant));
  return directory;
}

/** Tries one mutant. */
export async function tryMutant(mutant: Mutant): Promise<Trial> {
  const directory = copyWith(mutant);
  try {
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

async function main(names: readonly string[]): Promise<number> {
  const chosen = mutants.filter(({ name, law }) => names.length === 0 || names.includes(name) || names.includes(law));
  const trials: Trial[] = [];
  const queue = [...chosen];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const trial = await tryMutant(next);
      trials.push(trial);
      process.stdout.write(
        `${trial.killed ? 'killed  ' : 'SURVIVED'}  ${next.law.padEnd(3)}  ${next.name}: ${trial.by}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const survivors = trials.filter(({ killed }) => !killed);
  process.stdout.write(`${String(trials.length - survivors.length)} passed, ${String(survivors.length)} failed\n`);
  return survivors.length === 0 && trials.length > 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
