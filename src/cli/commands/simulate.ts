import { run as runWorld, faultNames, type Outcome } from '../../simulate/index.ts';
import { EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';

type Options = CommonOptions & { readonly seed: number; readonly runs: number };
const STEPS = 400;

/** Runs worlds from consecutive seeds. Exit 3 when a law was broken or a world did not converge. */
export const run: Run<Options> = async ({ options: { seed, runs }, output }) => {
  const faults = new Map<string, number>(faultNames.map((name) => [name, 0]));
  const violations: unknown[] = [];
  let nonConverged = 0;
  for (let number = seed; number < seed + runs; number++) {
    const outcome = await runWorld({ seed: number, steps: STEPS, calm: true });
    for (const [name, count] of outcome.faults) faults.set(name, (faults.get(name) ?? 0) + count);
    violations.push(...outcome.violations.map((violation) => ({ seed: number, ...violation })));
    if (outcome.converged === false) nonConverged++;
    say(output, outcome);
  }
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const counts = Object.fromEntries(faults);
  output.result({ seed, runs, violations, nonConverged, faults: counts, cpuSeconds }, () => {
    const met = [...faults.values()].filter((count) => count > 0).length;
    return [
      `${String(runs)} worlds from seed ${String(seed)}: ${String(violations.length)} violations, ${String(nonConverged)} did not converge`,
      `${String(met)} of ${String(faults.size)} classes of fault met, ${cpuSeconds.toFixed(1)} CPU seconds`,
    ].join('\n');
  });
  return violations.length === 0 && nonConverged === 0 ? EXIT.ok : EXIT.problems;
};

function say(output: { note(text: string): void }, { seed, violations }: Outcome): void {
  for (const { law, position, text } of violations)
    output.note(`seed ${String(seed)}, position ${String(position)}: ${law}: ${text}`);
}
