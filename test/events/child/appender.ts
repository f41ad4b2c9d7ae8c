/**
 * A process of its own that owns a log. `forever FILE`: appends batches without end and prints the head after each one. `steps FILE`:
 * takes a word a line from stdin, `append N` or `close`, and prints what came of it.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { LogUnavailable, openSqliteLog, type NewEvent, type SqliteLog } from '../../../src/events/index.ts';

const [mode, path] = process.argv.slice(2) as [string, string];

/** Ids are positions, so that whoever looks at the file afterwards knows what belongs where. */
function batchAfter(head: number, count: number): readonly NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ type: 'install.failed', data: { connector: 'docs', release: null, stage: 'unpack', reason: 'x'.repeat(200) } },
    ...{ id: `p-${head + 1 + index}`, at: head + 1 + index, cause: null },
  }));
}

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

function step(log: SqliteLog, count: number): string {
  try {
    log.append(batchAfter(log.head, count), log.head);
    return `head ${log.head}`;
  } catch (error) {
    if (error instanceof LogUnavailable) return `unavailable ${log.head}`;
    throw error;
  }
}

const log = await openSqliteLog(path);
say(`open ${log.head}`);
if (mode === 'forever') for (let turn = 0; ; turn++) say(step(log, 1 + (turn % 5)));
for await (const line of createInterface({ input: process.stdin })) {
  const [word, count] = line.split(' ');
  if (word === 'append') say(step(log, Number(count)));
  if (word === 'verify') say(`verified ${JSON.stringify(log.verify().broken)}`);
}
log.close();
