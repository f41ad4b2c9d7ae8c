import { existsSync } from 'node:fs';
import { openSqliteLog } from '../../events/index.ts';
import { fold } from '../../replay/index.ts';
import { CommandError, EXIT } from '../exit.ts';
import { pathsOf } from '../paths.ts';
import type { Run } from '../program.ts';

/** Packs what is sealed, once the log was folded; folds it again, and keeps the packs when it comes to the same state. */
export const run: Run = async ({ options, output }) => {
  const path = pathsOf(process.env, options.state).log;
  // Opening would make one.
  if (!existsSync(path))
    throw new CommandError(EXIT.usage, `there is no log ${path}`, 'name its state directory with --state');
  const log = await openSqliteLog(path);
  try {
    const { head } = log;
    let stateHash = '';
    const done = log.compact((said) => {
      output.note(`folding ${String(head)} events ${stateHash === '' ? 'as they are' : 'as they were packed'}`);
      return (stateHash = fold(said).stateHash);
    });
    output.result({ head, stateHash, ...done }, () => text(done.bytesBefore, done.bytesAfter, head));
    return EXIT.ok;
  } finally {
    log.close();
  }
};

function text(before: number, after: number, head: number): string {
  const [was, is] = [before, after].map((bytes) => `${(bytes / 1_048_576).toFixed(1)} MiB`) as [string, string];
  return `${is} instead of ${was}; ${String(head)} events come to the same state.`;
}
