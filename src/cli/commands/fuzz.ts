import { join } from 'node:path';
import { availableParallelism } from 'node:os';
import { DEFAULT_STEPS, optionsOf, runTwice } from '../../simulate/index.ts';
import { EXIT } from '../exit.ts';
import type { Output } from '../output.ts';
import { columns } from '../output.ts';
import type { CommonOptions, Run } from '../program.ts';
import { commandFor, writeSeedLog } from '../seedLog.ts';
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

/** Worlds from ever new seeds until the time is over, or one breaks a law: exit 3, its log kept, and the command that has it again. */
export const run: Run<Options> = async ({ options, output }) => {
  const first = options.seed ?? Math.floor(Math.random() * SPACE);
  const until = performance.now() + options.minutes * 60_000;
  const parts: SeedsDone[] = [];
  let next = first;
  const work = async (): Promise<void> => {
    while (performance.now() < until && parts.every(isGood)) {
      const seed = next;
      next += STRETCH;
      parts.push(await runShare({ seed, runs: STRETCH, steps: DEFAULT_STEPS }));
      tell(output, parts, (until - performance.now()) / 60_000);
    }
  };
  await Promise.all(Array.from({ length: options.processes ?? availableParallelism() }, work));
  const done = together(parts);
  const kept = await keepFirst(done, options.out ?? '.');
  output.result({ seed: first, ...done, kept }, () => [coverage(done), ...summary(done, first, kept)].join('\n'));
  return isGood(done) ? EXIT.ok : EXIT.problems;
};

const isGood = ({ violations, nonConverged }: SeedsDone): boolean => violations.length === 0 && nonConverged === 0;

function tell(output: Output, parts: readonly SeedsDone[], minutesLeft: number): void {
  const { runs, events, violations, cpuSeconds } = together(parts);
  const perMinute = ((runs / cpuSeconds) * 60).toFixed(0);
  output.note(
    `${String(runs)} worlds, ${String(events)} events, ${perMinute} a minute and core, ${String(violations.length)} violations, ${Math.max(0, minutesLeft).toFixed(1)} minutes left`,
  );
}

/** The log of the first seed that broke a law; `null`: none did. */
async function keepFirst({ violations }: SeedsDone, folder: string): Promise<string | null> {
  const [found] = violations;
  if (found === undefined) return null;
  const { log, stateHash } = await runTwice(optionsOf(found.seed));
  const file = join(folder, `seed-${String(found.seed)}.jsonl`);
  writeSeedLog(file, log, stateHash);
  return file;
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
