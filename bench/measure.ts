/** How often both sides of a comparison are measured, in turns. */
export const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);

/** Process CPU, because the cores are shared with whoever else is there; wall time beside it for what waits for a disk. */
export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

export function measure(work: () => void): Cost {
  const cpu = process.cpuUsage();
  const wall = performance.now();
  work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - wall };
}

/** The middle of several rounds, by CPU. Rounds of the two sides are taken in turns by the caller. */
export function median(costs: readonly Cost[]): Cost {
  const sorted = [...costs].sort((a, b) => a.cpuMs - b.cpuMs);
  return sorted[Math.floor(sorted.length / 2)] as Cost;
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export const perItemUs = ({ cpuMs }: Cost, items: number): number => round((cpuMs * 1000) / items, 3);
