/** Plays log files in a process of its own and says what came of it, as one line of JSON. Loads no database. */
import { createRequire } from 'node:module';
import { openLogFile } from '../../src/events/index.ts';
import { stateHash } from '../../src/reconcile/index.ts';
import { replay, steps, transcript } from '../../src/replay/index.ts';
import { createHash } from 'node:crypto';

const loaded = (): string[] => Object.keys(createRequire(import.meta.url).cache);
const played = process.argv.slice(2).map((path) => {
  const log = openLogFile(path);
  const { stateHash: hash, divergence, differences, marks, events, due } = replay(log);
  const walk = steps(log);
  let player = walk.next();
  while (player.done !== true) player = walk.next();
  const text = createHash('sha256')
    .update([...transcript(log)].join('\n'))
    .digest('hex');
  return { events, marks, hash, fromScratch: stateHash(player.value.state), divergence, differences, due, text };
});
const offsets = [0, 6].map((month) => new Date(2026, month, 1).getTimezoneOffset());
const databases = loaded().filter((path) => /better-sqlite3|[\\/]pg[\\/]/.test(path));
process.stdout.write(`${JSON.stringify({ played, offsets, databases, node: process.version })}\n`);
