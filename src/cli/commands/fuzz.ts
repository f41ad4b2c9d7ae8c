import { join } from 'node:path';
import { availableParallelism } from 'node:os';
import { DEFAULT_STEPS, optionsOf, runTwice } from '../../simulate/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import { columns, sayError, type Output } from '../output.ts';
import type { CommonOptions, Run } from '../program.ts';
import { assertTakesFiles, commandFor, writeSeedLog } from '../seedLog.ts';
import { codeOf, untilTold } from '../serve.ts';
import { runShare, together, type SeedsDone } from '../shards.ts';

type Options = CommonOptions & {
  readonly minutes: number;
  readonly seed?: number;
  readonly processes?: number;
  readonly out?: string;
};

/** Seeds of one process between two lines of progress. */
const STRETCH = 250;
const SPACE = 2 ** 31;

/**
 * Worlds from ever new seeds until the time is over, or one breaks a law: exit 3, its log kept, and the command that has it again.
 * Told to stop, it says how far it came.
 */
export const run: Run<Options> = async ({ options, output }) => {
  const folder = options.out ?? '.';
  assertTakesFiles(folder);
  const first = options.seed ?? Math.floor(Math.random() * SPACE);
  const parts: SeedsDone[] = [];
  const over = new AbortController();
  const stop = await Promise.race([untilTold(), runWorlds(options, output, { first, parts, over: over.signal })]);
  over.abort();
  const done = together(parts);
  const kept = await keepFirst(done, folder);
  output.result({ seed: first, ...done, kept }, () => [coverage(done), ...summary(done, first, kept)].join('\n'));
  if (!isGood(done)) return EXIT.problems;
  return stop === null ? EXIT.ok : codeOf(stop);
};

interface Worlds {
  readonly first: number;
  readonly parts: SeedsDone[];
  /** Ends the processes that still run some. */
  readonly over: AbortSignal;
}

/** Adds to `parts` until it is over. */
async function runWorlds(options: Options, output: Output, { first, parts, over }: Worlds): Promise<null> {
  const until = performance.now() + options.minutes * 60_000;
  let next = first;
  const work = async (): Promise<void> => {
    while (performance.now() < until && parts.every(isGood)) {
      const seed = next;
      next += STRETCH;
      parts.push(await runShare({ seed, runs: STRETCH, steps: DEFAULT_STEPS }, over));
      tell(output, parts, (until - performance.now()) / 60_000);
    }
  };
  await Promise.all(Array.from({ length: options.processes ?? availableParallelism() }, work));
  return null;
}

const isGood = ({ violations, nonConverged }: SeedsDone): boolean => violations.length === 0 && nonConverged === 0;

function tell(output: Output, parts: readonly SeedsDone[], minutesLeft: number): void {
  const { runs, events, violations, cpuSeconds } = together(parts);
  const perMinute = ((runs / cpuSeconds) * 60).toFixed(0);
  output.note(
    `${String(runs)} worlds, ${String(events)} events, ${perMinute} a minute and core, ${String(violations.length)} violations, ${Math.max(0, minutesLeft).toFixed(1)} minutes left`,
  );
}

/** The log of the first seed that broke a law; `null`: none did, or it can't be kept, which hides the seed from nobody. */
export async function keepFirst({ violations: [found] }: SeedsDone, folder: string): Promise<string | null> {
  if (found === undefined) return null;
  const file = join(folder, `seed-${String(found.seed)}.jsonl`);
  try {
    const { log, stateHash } = await runTwice(optionsOf(found.seed));
    writeSeedLog(file, log, stateHash);
    return file;
  } catch (error) {
    const why = `the log of seed ${String(found.seed)} can't be kept: ${(error as Error).message}`;
    sayError(new CommandError(EXIT.failed, why, commandFor(found.seed, DEFAULT_STEPS)), false);
    return null;
  }
}

/** Where the worlds have been. */
function coverage({ faults, places }: SeedsDone): string {
  const rows = (of: Readonly<Record<string, number>>): readonly (readonly string[])[] =>
    Object.entries(of).map(([name, count]) => [name, String(count)]);
  return columns([['fault', 'times'], ...rows(faults), ['place', 'times'], ...rows(places)]);
}

function summary(done: SeedsDone, seed: number, kept: string | null): readonly string[] {
  const { runs, violations, nonConverged } = done;
  return [
    ...violations.flatMap((one) => [
      `seed ${String(one.seed)}, position ${String(one.position)}: ${one.law}: ${one.text}`,
      `  ${commandFor(one.seed, DEFAULT_STEPS)}`,
    ]),
    ...(kept === null ? [] : [`its log: ${kept}`]),
    `${String(runs)} worlds from seed ${String(seed)}: ${String(violations.length)} violations, ${String(nonConverged)} did not converge`,
  ];
}
