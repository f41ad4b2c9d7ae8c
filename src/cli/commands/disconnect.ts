import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';

/** Revokes. The tools are gone before the server is asked; if it can't be, the next snapshot says what holds. */
export const run: Run<CommonOptions, [string]> = async ({ options, output }, connector) => {
  await askDaemon(options, 'disconnect', { connector });
  output.result({ connector, state: 'disconnected' }, () => `${connector} is disconnected.`);
  return EXIT.ok;
};
