import { existsSync } from 'node:fs';
import { openLogFile, type LogFile } from '../events/index.ts';
import { positionAt, type Recording } from '../replay/index.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Moment } from './program.ts';

/** The log file that a person named. Throws a CommandError (2) when there is none, and LogUnreadable (3) when it is no log. */
export function namedLog(path: string): LogFile {
  if (existsSync(path)) return openLogFile(path);
  throw new CommandError(EXIT.usage, `there is no file ${path}`, 'check the path; `dacapo log export FILE` makes one');
}

/** The position that is meant; `undefined` stays. */
export function positionOf(log: Recording, moment: Moment | undefined): number | undefined {
  if (moment === undefined) return undefined;
  return 'position' in moment ? moment.position : positionAt(log, moment.instant);
}
