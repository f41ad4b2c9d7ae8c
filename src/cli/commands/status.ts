import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';
import { statusText, type StatusDocument } from '../statusText.ts';

/** What is published, what is withheld, and why. */
export const run: Run = async ({ options, output }) => {
  const status = (await askDaemon(options, 'status')) as StatusDocument;
  output.result(status, () => statusText(status));
  return EXIT.ok;
};
