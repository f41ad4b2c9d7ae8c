import { existsSync, statSync } from 'node:fs';
import { LogFileError, openLogFile, type LogFile, type LogReader } from '../events/index.ts';
import { formatInstant } from '../reconcile/index.ts';
import { positionAt } from '../replay/index.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Output } from './output.ts';
import type { Moment } from './program.ts';

/** The log file that a person named. Throws a CommandError: 2 when there is none, 3 when it is no log. */
export function namedLog(path: string): LogFile {
  if (!existsSync(path))
    throw new CommandError(
      EXIT.usage,
      `there is no file ${path}`,
      'check the path; `dacapo log export FILE` makes one',
    );
  refuseNoFile(path);
  try {
    return openLogFile(path);
  } catch (error) {
    // Only the first line has been read: that the file breaks later is said by who reads on.
    if (error instanceof LogFileError) throw new CommandError(EXIT.problems, error.reason, error.next);
    throw error;
  }
}

/** A pipe can be read once, and a log is read several times. Throws a CommandError (2). */
export function refuseNoFile(path: string): void {
  if (path === '') throw new CommandError(EXIT.usage, 'the name of the file is empty', 'name a file');
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const is = found.isDirectory() ? 'a folder' : 'no regular file';
  throw new CommandError(EXIT.usage, `${path} is ${is}`, 'name a file');
}

/**
 * The position that is meant; `undefined` stays. Of a time after the end the end is meant, and said. Throws a CommandError (2) for a
 * moment before the beginning, and for a position after the end.
 */
export function positionOf(log: LogReader, moment: Moment | undefined, { note }: Output): number | undefined {
  if (moment === undefined) return undefined;
  const position = 'position' in moment ? moment.position : positionAt(log, moment.instant);
  for (const { at } of position === 0 ? log.read() : []) throw beforeTheBeginning(at);
  assertReached(log, position);
  if ('instant' in moment && position === log.head)
    note(`the log ends at position ${String(position)}: this is how things stood there`);
  return position;
}

/** Throws a CommandError (2) for a position that the log has not come to: seconds since the epoch look like one. */
export function assertReached({ head }: LogReader, position: number): void {
  if (position <= head) return;
  throw new CommandError(
    EXIT.usage,
    `the log ends at position ${String(head)}`,
    'name a position up to there, or a time like 2026-01-31T14:02Z',
  );
}

const beforeTheBeginning = (at: number): CommandError =>
  new CommandError(
    EXIT.usage,
    `the log begins at position 1, at ${formatInstant(at)}`,
    'name a position or a time in the log',
  );
