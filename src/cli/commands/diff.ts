import { differenceText, replay } from '../../replay/index.ts';
import { EXIT } from '../exit.ts';
import { namedLog } from '../logFile.ts';
import type { CommonOptions, Run } from '../program.ts';

/** Holds today's rules against an old log: the first position at which they are known to have decided otherwise. Exit 3 then. */
export const run: Run<CommonOptions, [string]> = async ({ output }, file) => {
  const { events, divergence, differences, marks } = replay(namedLog(file));
  const all = divergence === null ? differences : [divergence, ...differences];
  const [first = null] = [...all].sort((a, b) => a.position - b.position);
  output.result({ events, marks, firstDifference: first }, () =>
    first === null
      ? `${String(events)} events, ${String(marks)} state hashes compared: no difference`
      : `position ${String(first.position)}: ${differenceText(first)}`,
  );
  return Promise.resolve(first === null ? EXIT.ok : EXIT.problems);
};
