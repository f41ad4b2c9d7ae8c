import { openSqliteLog, openSqliteLogReadOnly, type Compaction } from '../../events/index.ts';
import { fold } from '../../replay/index.ts';
import { EXIT } from '../exit.ts';
import { pathsOf } from '../paths.ts';
import type { Run } from '../program.ts';

/** Packs what is sealed, once the log was folded; folds it again, and keeps the packs when it comes to the same state. */
export const run: Run = async ({ options, output }) => {
  const path = pathsOf(process.env, options.state).log;
  await assertLog(path);
  const log = await openSqliteLog(path);
  try {
    const { head } = log;
    let stateHash = '';
    const done = log.compact((said) => {
      output.note(`folding ${String(head)} events ${stateHash === '' ? 'as they are' : 'as packed'}`);
      return (stateHash = fold(said).stateHash);
    });
    if (!done.settled) output.note('another program reads the log: the file gets smaller once that is done');
    output.result({ head, stateHash, ...done }, () => text(done, head));
    return EXIT.ok;
  } finally {
    log.close();
  }
};

/** An owner makes a log where there is none: it is asked for as readers ask. An older one is brought up to date. */
async function assertLog(path: string): Promise<void> {
  try {
    (await openSqliteLogReadOnly(path)).close();
  } catch (error) {
    if ((error as Error).name !== 'LogOutdated') throw error;
  }
}

function text({ segments, bytesBefore, bytesAfter }: Compaction, head: number): string {
  if (segments === 0) return `nothing to pack: ${size(bytesAfter)}, ${String(head)} events.`;
  return `${size(bytesAfter)} instead of ${size(bytesBefore)}; ${String(head)} events come to the same state.`;
}

const size = (bytes: number): string =>
  bytes < 10 * 1_048_576 ? `${String(Math.round(bytes / 1024))} KiB` : `${String(Math.round(bytes / 1_048_576))} MiB`;
