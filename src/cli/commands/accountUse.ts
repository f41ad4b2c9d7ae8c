import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import type { CommonOptions, Run } from '../program.ts';

/** Switches: from the very next request nothing of the account before is visible. Exit 4 without a login for it. */
export const run: Run<CommonOptions, [string]> = async ({ options, output }, account) => {
  const active = (await askDaemon(options, 'account.use', { account })) as { readonly epoch: number } | null;
  output.result({ account, epoch: active?.epoch ?? null }, () => `Account ${account} is active.`);
  return EXIT.ok;
};
