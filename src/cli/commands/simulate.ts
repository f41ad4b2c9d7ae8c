import { COVERAGE_RUNS, simulate, unmetFaults } from '../../simulate/index.ts';
import { EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';
import { cpuSeconds } from '../resources.ts';

type Options = CommonOptions & { readonly seed: number; readonly runs: number };

/** Runs worlds from consecutive seeds. Exit 3 when a law was broken, a world did not converge, or many runs never met a class of fault. */
export const run: Run<Options> = async ({ options: { seed, runs }, output }) => {
  const { findings, nonConverged, faults, events } = await simulate({ seed, runs });
  const unmet = runs >= COVERAGE_RUNS ? unmetFaults({ faults }) : [];
  // The log of a run is for the tests; a seed is enough to have it again.
  const violations = findings.map(({ seed: of, law, position, text }) => ({ seed: of, law, position, text }));
  const cpu = cpuSeconds();
  output.result({ seed, runs, violations, nonConverged, unmet, events, faults, cpuSeconds: cpu }, () => {
    const met = Object.values(faults).filter((count) => count > 0).length;
    return [
      ...violations.map((one) => `seed ${String(one.seed)}, position ${String(one.position)}: ${one.law}: ${one.text}`),
      `${String(runs)} worlds from seed ${String(seed)}: ${String(violations.length)} violations, ${String(nonConverged)} did not converge`,
      `${String(met)} of ${String(Object.keys(faults).length)} classes of fault met, ${cpu.toFixed(1)} CPU seconds`,
      ...(unmet.length === 0 ? [] : [`never met: ${unmet.join(', ')}`]),
    ].join('\n');
  });
  return violations.length === 0 && nonConverged === 0 && unmet.length === 0 ? EXIT.ok : EXIT.problems;
};
