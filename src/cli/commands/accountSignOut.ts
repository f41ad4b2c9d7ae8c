import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';

/** No account is active afterwards, also after a restart. */
export const run: Run = async ({ options, output }) => {
  await askDaemon(options, 'account.signOut');
  output.result({ account: null, epoch: null }, () => 'No account is active.');
  return EXIT.ok;
};
