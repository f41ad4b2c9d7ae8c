import { differenceText, replay, transcript } from '../../replay/index.ts';
import { EXIT } from '../exit.ts';
import { namedLog, positionOf } from '../logFile.ts';
import type { CommonOptions, Moment, Run } from '../program.ts';

type Options = CommonOptions & { readonly until?: Moment };

/** Plays an exported log again: as a transcript for a person, as the state it ends in with --json. Exit 3 on a divergence. */
export const run: Run<Options, [string]> = async ({ options, output }, file) => {
  const log = namedLog(file);
  const until = positionOf(log, options.until, output);
  if (!output.json) await output.lines(transcript(log, { until }));
  const played = replay(log, { until });
  if (output.json) output.result({ ...played }, () => '');
  for (const difference of played.differences)
    output.note(`position ${String(difference.position)}: ${differenceText(difference)}`);
  if (played.divergence === null) return EXIT.ok;
  output.note(`divergence at position ${String(played.divergence.position)}: ${differenceText(played.divergence)}`);
  return EXIT.problems;
};
