import { existsSync } from 'node:fs';
import { openSqliteLogReadOnly, type LogReader } from '../../events/index.ts';
import type { Explanation } from '../../reconcile/index.ts';
import { whyFrom } from '../../replay/index.ts';
import { askDaemon } from '../daemon.ts';
import { EXIT } from '../exit.ts';
import { namedLog, positionOf } from '../logFile.ts';
import { columns, styled, type Output } from '../output.ts';
import { pathsOf } from '../paths.ts';
import type { CommonOptions, Moment, Run } from '../program.ts';

type Options = CommonOptions & { readonly account?: string; readonly at?: Moment; readonly log?: string };

/** Why a connector is, or was, published or withheld, and which events made it so. */
export const run: Run<Options, [string]> = async ({ options, output }, connector) => {
  const explanation = await explanationOf(options, output, connector);
  output.result({ ...explanation }, () => explanationText(explanation));
  return EXIT.ok;
};

/** Of the running daemon; of its log when a position is asked for, or when it does not run; of a file when one is named. */
async function explanationOf(options: Options, output: Output, connector: string): Promise<Explanation> {
  const { account, at, log } = options;
  const question = { connector, ...(account === undefined ? {} : { account }) };
  const then = (recording: LogReader): Explanation =>
    whyFrom(recording, connector, { account, at: positionOf(recording, at, output) });
  if (log !== undefined) return then(namedLog(log));
  if (at !== undefined) return ofOwnLog(options, then);
  try {
    return (await askDaemon(options, 'why', question)) as Explanation;
  } catch (error) {
    const { log: path } = pathsOf(process.env, options.state);
    if ((error as Error).name !== 'DaemonNotRunning' || !existsSync(path)) throw error;
    return ofOwnLog(options, then);
  }
}

async function ofOwnLog(options: Options, ask: (log: LogReader) => Explanation): Promise<Explanation> {
  const reader = await openSqliteLogReadOnly(pathsOf(process.env, options.state).log);
  try {
    return ask(reader);
  } finally {
    reader.close();
  }
}

function explanationText({ text, chain, wouldChange }: Explanation): string {
  const links = chain.map(({ position, at, text: said }) => [
    `  ${String(position)}`,
    new Date(at).toISOString(),
    said,
  ]);
  return [styled('bold', text), columns(links), `It would change: ${wouldChange}.`]
    .filter((part) => part !== '')
    .join('\n\n');
}
