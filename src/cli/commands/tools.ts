import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import { columns } from '../output.ts';
import { plain } from '../plain.ts';
import type { Run } from '../program.ts';

interface List {
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
  readonly missing: readonly { readonly connector: string; readonly reason: string }[];
  readonly excluded: readonly { readonly connector: string; readonly tool: string | null; readonly reason: string }[];
}

/** The list an agent gets now, and what is not in it. */
export const run: Run = async ({ options, output }) => {
  const { tools, missing, excluded } = (await askDaemon(options, 'tools')) as List;
  output.result({ tools, missing, excluded }, () =>
    columns(tools.map(({ name, description = '' }) => [name, plain(description.split('\n')[0] ?? '').slice(0, 80)])),
  );
  for (const { connector, reason } of missing) output.note(`missing: ${connector}: ${plain(reason)}`);
  for (const { connector, tool, reason } of excluded)
    output.note(`left out: ${connector} ${plain(tool ?? '')}: ${plain(reason)}`);
  return EXIT.ok;
};
