import { existsSync, statSync } from 'node:fs';
import { LogUnreadable, openLogFile, type LogFile } from '../events/index.ts';
import { positionAt, type Recording } from '../replay/index.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Moment } from './program.ts';

/** The log file that a person named. Throws a CommandError: 2 when there is none, 3 when it is no log. */
export function namedLog(path: string): LogFile {
  if (!existsSync(path))
    throw new CommandError(
      EXIT.usage,
      `there is no file ${path}`,
      'check the path; `dacapo log export FILE` makes one',
    );
  refuseFolder(path);
  try {
    return openLogFile(path);
  } catch (error) {
    // Only the first line has been read: that the file breaks later is said by who reads on.
    if (!(error instanceof LogUnreadable)) throw error;
    throw new CommandError(EXIT.problems, error.message, 'name a file that `dacapo log export FILE` wrote');
  }
}

/** Throws a CommandError (2). */
export function refuseFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw new CommandError(EXIT.usage, `${path} is a folder`, 'name a file');
}

/** The position that is meant; `undefined` stays. */
export function positionOf(log: Recording, moment: Moment | undefined): number | undefined {
  if (moment === undefined) return undefined;
  return 'position' in moment ? moment.position : positionAt(log, moment.instant);
}
