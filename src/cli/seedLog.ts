/** A simulated run as a log file: what `replay` and `why` read, and what becomes a fixture by being copied. */
import { exportLines, memoryLog, writeLines, type LoggedEvent } from '../events/index.ts';
import { version } from './version.ts';

/** Writes the file, whole or not at all. */
export function writeSeedLog(file: string, events: readonly LoggedEvent[], stateHash?: string): void {
  const log = memoryLog();
  for (const { id, at, cause, type, data } of events) log.append([{ id, at, cause, type, data } as LoggedEvent]);
  if (stateHash !== undefined && log.head > 0) log.mark(log.head, stateHash);
  writeLines(file, exportLines(log, { package: version }));
}

/** The command that runs one seed again and keeps its log. */
export const commandFor = (seed: number, steps: number): string =>
  `dacapo simulate --seed ${String(seed)} --runs 1 --steps ${String(steps)} --log seed-${String(seed)}.jsonl`;
