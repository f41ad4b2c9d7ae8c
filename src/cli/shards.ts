/**
 * Many seeds over several processes: each runs a stretch of them with this very command line and says its document; the sums are
 * made here. A seed does not know in which process it runs, so the result is the same with one.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { CommandError, EXIT } from './exit.ts';

export interface Seeds {
  readonly seed: number;
  readonly runs: number;
  readonly steps: number;
}

export interface SeedsDone {
  readonly runs: number;
  readonly events: number;
  readonly violations: readonly {
    readonly seed: number;
    readonly law: string;
    readonly position: number;
    readonly text: string;
  }[];
  readonly nonConverged: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly places: Readonly<Record<string, number>>;
  readonly cpuSeconds: number;
}

/** Below this a second process costs more than it brings. */
const WORTH_SHARING = 200;

/** How the seeds are shared; one share is run in this process. */
export function sharesOf({ seed, runs, steps }: Seeds, processes = availableParallelism()): readonly Seeds[] {
  const count = runs < WORTH_SHARING ? 1 : Math.max(1, processes);
  const size = Math.ceil(runs / count);
  return Array.from({ length: count }, (_, index) => ({
    seed: seed + index * size,
    runs: Math.max(0, Math.min(size, runs - index * size)),
    steps,
  })).filter((share) => share.runs > 0);
}

/** Runs one share in a process of its own, which `over` ends. *Errors*: CommandError when that process ends without a document. */
export function runShare({ seed, runs, steps }: Seeds, over?: AbortSignal): Promise<SeedsDone> {
  const args = ['simulate', '--seed', seed, '--runs', runs, '--steps', steps, '--processes', 1, '--json'].map(String);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(over && { signal: over }),
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => {
      if (code === EXIT.ok || code === EXIT.problems) return resolve(JSON.parse(text) as SeedsDone);
      const why = `the process for the seeds from ${String(seed)} ended with ${String(code ?? signal)}`;
      reject(
        new CommandError(
          EXIT.failed,
          why,
          `run them alone: dacapo simulate --seed ${String(seed)} --runs ${String(runs)}`,
        ),
      );
    });
  });
}

/** The sums, in the order of the seeds. */
export function together(parts: readonly SeedsDone[]): SeedsDone {
  const sum = (of: (part: SeedsDone) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    runs: sum(({ runs }) => runs),
    events: sum(({ events }) => events),
    violations: parts.flatMap(({ violations }) => violations).sort((a, b) => a.seed - b.seed),
    nonConverged: sum(({ nonConverged }) => nonConverged),
    faults: tally(parts.map(({ faults }) => faults)),
    places: tally(parts.map(({ places }) => places)),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
  };
}

function tally(counts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [name, count] of counts.flatMap((one) => Object.entries(one))) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}
