/**
 * Writes the log of a tale beside the golden transcripts: `node --import tsx test/transcripts/record.ts [NAME …]`, all of them when
 * none is named. A log that is there already is a witness of the version that wrote it: only a change of the rules replaces one.
 */
import { join } from 'node:path';
import { writeLines } from '../../src/events/index.ts';
import { tales } from '../support/tales.ts';

const asked = process.argv.slice(2);
for (const [name, tell] of Object.entries(tales)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const tale = await tell();
  writeLines(join(import.meta.dirname, `${name}.jsonl`), tale.lines());
  await tale.engine.close();
  process.stdout.write(`${name}.jsonl\n`);
}
