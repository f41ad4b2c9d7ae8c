/** A simulated run as a log file: what `replay` and `why` read, and what becomes a fixture by being copied. */
import { mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exportLines, memoryLog, writeLines, type LoggedEvent } from '../events/index.ts';
import { CommandError, EXIT } from './exit.ts';
import { refuseNoFile } from './logFile.ts';
import { version } from './version.ts';

/**
 * Before a run: whether its log can be kept at all. It tries, since permissions say nothing of a disk that takes no writes, nor to
 * root. Throws a CommandError (2).
 */
export function assertTakesFiles(folder: string): void {
  try {
    rmdirSync(mkdtempSync(join(folder, '.dacapo-')));
  } catch (error) {
    const why = `no log can be kept in ${folder}: ${(error as Error).message}`;
    throw new CommandError(EXIT.usage, why, 'make that folder writable, or name another one');
  }
}

/** Throws a CommandError (2). */
export function assertKeepable(file: string): void {
  refuseNoFile(file);
  assertTakesFiles(dirname(file));
}

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
