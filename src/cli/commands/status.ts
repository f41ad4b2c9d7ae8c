import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';
import { statusText, type StatusDocument } from '../statusText.ts';

/** What is published, what is withheld, and why; with the hash that a replay of the log must come to. */
export const run: Run = async ({ options, output }) => {
  const status = (await askDaemon(options, 'status')) as StatusDocument;
  const place = (await askDaemon(options, 'position')) as { readonly position: number; readonly stateHash: string };
  output.result({ ...status, ...place }, () => statusText(status));
  return EXIT.ok;
};
