import { COVERAGE_RUNS, optionsOf, runTwice, simulate, unmetFaults, type Fault } from '../../simulate/index.ts';
import { EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';
import { cpuSeconds } from '../resources.ts';
import { assertKeepable, commandFor, writeSeedLog } from '../seedLog.ts';
import { runShare, sharesOf, together, type Seeds, type SeedsDone } from '../shards.ts';

type Options = CommonOptions & Seeds & { readonly processes?: number; readonly log?: string };

/** Runs worlds from consecutive seeds. Exit 3 when a law was broken, a world did not converge, or many runs never met a class of fault. */
export const run: Run<Options> = async ({ options, output }) => {
  const { seed, runs, steps, log } = options;
  if (log !== undefined) await keepLog(log, seed, steps);
  const shares = sharesOf(options, options.processes);
  const done =
    shares.length === 1 ? await here(options) : together(await Promise.all(shares.map((share) => runShare(share))));
  const { violations, nonConverged, faults, events } = done;
  const unmet = runs >= COVERAGE_RUNS ? unmetFaults({ faults: faults as Record<Fault, number> }) : [];
  output.result({ seed, ...done, unmet }, () => {
    const met = Object.values(faults).filter((count) => count > 0).length;
    const perMinute = (runs / done.cpuSeconds) * 60;
    return [
      ...violations.flatMap((one) => [
        `seed ${String(one.seed)}, position ${String(one.position)}: ${one.law}: ${one.text}`,
        `  ${commandFor(one.seed, steps)}`,
      ]),
      `${String(runs)} worlds from seed ${String(seed)}, each run twice: ${String(events)} events, ${String(violations.length)} violations, ${String(nonConverged)} did not converge`,
      `${String(met)} of ${String(Object.keys(faults).length)} classes of fault met, ${done.cpuSeconds.toFixed(1)} CPU seconds, ${perMinute.toFixed(0)} worlds a minute and core`,
      ...(unmet.length === 0 ? [] : [`never met: ${unmet.join(', ')}`]),
    ].join('\n');
  });
  return violations.length === 0 && nonConverged === 0 && unmet.length === 0 ? EXIT.ok : EXIT.problems;
};

async function here({ seed, runs, steps }: Seeds): Promise<SeedsDone> {
  const { findings, ...rest } = await simulate({ seed, runs, steps });
  // The log of a run is for those who ask for it; a seed is enough to have it again.
  const violations = findings.map(({ seed: of, law, position, text }) => ({ seed: of, law, position, text }));
  return { ...rest, violations, cpuSeconds: cpuSeconds() };
}

async function keepLog(file: string, seed: number, steps: number): Promise<void> {
  assertKeepable(file);
  const { log, stateHash } = await runTwice(optionsOf(seed, { steps }));
  writeSeedLog(file, log, stateHash);
}
