/**
 * Writes the golden log of the version at hand: `node --import tsx test/golden/record.ts`. One world full of faults (switches, crashes,
 * restored servers, late replies), with a state hash every twenty-five events. The log of a version that was released is a witness and
 * is never written anew: where a later version decides otherwise, its ADR lists the differences.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportLines, memoryLog, writeLines } from '../../src/events/index.ts';
import { evolve, initialState, StateHasher } from '../../src/reconcile/index.ts';
import { run } from '../../src/simulate/index.ts';

const SEED = 6;
const STEPS = 700;
const MARK_EVERY = 25;
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  readonly version: string;
};

const log = memoryLog({ salt: version });
const state = initialState();
const hasher = new StateHasher(state);
for (const event of (await run({ seed: SEED, steps: STEPS, calm: true })).log) {
  for (const logged of log.append([event])) hasher.note(evolve(state, logged));
  if (log.head % MARK_EVERY === 0) log.mark(log.head, hasher.hash());
}
log.mark(log.head, hasher.hash());
writeLines(join(import.meta.dirname, `${version}.jsonl`), exportLines(log, { package: version }));
process.stdout.write(`${version}.jsonl: ${String(log.head)} events, state ${hasher.hash()}\n`);
