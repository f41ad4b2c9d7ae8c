/** Many seeds, each run twice and compared: what was violated, what never came to rest, and where the worlds have been. */
import type { LoggedEvent } from '../events/index.ts';
import { faultNames, type Fault } from './faults.ts';
import type { MakeHost } from './host.ts';
import type { Law, Violation } from './law.ts';
import { run, type Outcome, type RunOptions } from './run.ts';

export interface SimulateOptions {
  /** The first seed; the others follow. */
  readonly seed: number;
  readonly runs: number;
  /** Steps of each storm. */
  readonly steps?: number | undefined;
  /** The faults that are switched on; all of them when absent. */
  readonly faults?: readonly Fault[] | undefined;
  readonly host?: MakeHost | undefined;
  /** Told after every seed; `false` ends the set there. */
  readonly onSeed?: ((outcome: Outcome) => boolean | void) | undefined;
}

/** A seed that broke a law, with the log of that run. */
export interface Finding extends Violation {
  readonly seed: number;
  readonly log: readonly LoggedEvent[];
}

export interface Simulation {
  readonly seed: number;
  readonly runs: number;
  readonly events: number;
  /** One for each seed and law. */
  readonly findings: readonly Finding[];
  readonly nonConverged: number;
  readonly faults: Readonly<Record<Fault, number>>;
  readonly places: Readonly<Record<string, number>>;
}

export const DEFAULT_STEPS = 200;

/**
 * What the world of a seed is like: every second storm ends and must converge; of those some have no channel of hints (L10), and some
 * a connector that never answers (L19).
 */
export function optionsOf(seed: number, options: Omit<SimulateOptions, 'seed' | 'runs'> = {}): RunOptions {
  const calm = seed % 2 === 0;
  return {
    seed,
    steps: options.steps ?? DEFAULT_STEPS,
    calm,
    hints: seed % 8 !== 2,
    stuck: seed % 8 === 4 ? 'mail' : null,
    faults: options.faults,
    host: options.host,
  };
}

/** Runs every seed twice. Nothing in it looks at a clock: how long it took is for the caller to say. */
export async function simulate(options: SimulateOptions): Promise<Simulation> {
  const tally = new Tally(options.seed);
  for (let seed = options.seed; seed < options.seed + options.runs; seed++) {
    const outcome = await runTwice(optionsOf(seed, options));
    tally.add(outcome);
    if (options.onSeed?.(outcome) === false) break;
  }
  return tally.result();
}

/** Law L13 over the world itself: two runs of one seed are one run, to the byte. */
export async function runTwice(options: RunOptions): Promise<Outcome> {
  const outcome = await run(options);
  const again = await run(options);
  if (outcome.digest === again.digest) return outcome;
  const position =
    outcome.log.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(again.log[index])) + 1;
  const text = 'two runs of one seed differ: something looks at more than its seed';
  return { ...outcome, violations: [...outcome.violations, { law: 'L13', position, text }] };
}

class Tally {
  readonly #seed: number;
  readonly #findings: Finding[] = [];
  readonly #faults = Object.fromEntries(faultNames.map((name) => [name, 0])) as Record<Fault, number>;
  readonly #places: Record<string, number> = {};
  #runs = 0;
  #events = 0;
  #nonConverged = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  add({ seed, log, violations, converged, faults, places }: Outcome): void {
    this.#runs++;
    this.#events += log.length;
    if (converged === false) this.#nonConverged++;
    for (const [name, count] of faults) this.#faults[name] += count;
    for (const [name, count] of places) this.#places[name] = (this.#places[name] ?? 0) + count;
    const told = new Set<Law | 'core'>();
    for (const violation of violations) {
      if (!told.has(violation.law)) this.#findings.push({ ...violation, seed, log });
      told.add(violation.law);
    }
  }

  result(): Simulation {
    return {
      seed: this.#seed,
      runs: this.#runs,
      events: this.#events,
      findings: this.#findings,
      nonConverged: this.#nonConverged,
      faults: this.#faults,
      places: this.#places,
    };
  }
}

/** Fewer runs than this may miss a rare class by chance; so many may not. */
export const COVERAGE_RUNS = 1_000;

/** Faults that were switched on and never happened. A set of {@link COVERAGE_RUNS} or more in which there is one has failed. */
export const unmetFaults = (
  { faults }: Pick<Simulation, 'faults'>,
  allowed: readonly Fault[] = faultNames,
): readonly Fault[] => allowed.filter((name) => faults[name] === 0);
