import { diff, diffLogs } from '../../replay/index.ts';
import { EXIT } from '../exit.ts';
import { namedLog } from '../logFile.ts';
import type { CommonOptions, Run } from '../program.ts';

/**
 * Holds today's rules against an old log: the first position at which they are known to decide otherwise. With a second file: where
 * the two logs part. Exit 3 when there is a difference.
 */
export const run: Run<CommonOptions, [string, string | undefined]> = async ({ output }, file, other) => {
  const log = namedLog(file);
  const found = other === undefined ? diff(log) : diffLogs(log, namedLog(other));
  const { events, firstDifference } = found;
  const blind = 'blindFrom' in found && found.blindFrom !== null;
  output.result({ ...found }, () =>
    firstDifference === null
      ? `${String(events)} events: no difference${blind ? ' up to a row that cannot be read' : ''}`
      : `position ${String(firstDifference.position)}: ${firstDifference.text}`,
  );
  return Promise.resolve(firstDifference === null ? EXIT.ok : EXIT.problems);
};
