import { userInfo } from 'node:os';
import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';

/** Accepts a server whose revision went back. Who did so is recorded. */
export const run: Run = async ({ options, output }) => {
  const acceptedBy = userInfo().username;
  await askDaemon(options, 'account.trustServer', { acceptedBy });
  output.result({ acceptedBy }, () => 'The next snapshot is believed, whatever its revision.');
  return EXIT.ok;
};
