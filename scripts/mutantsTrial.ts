/**
 * One mutated copy of the core, tried by its own worlds: `mutantsTrial.ts DIRECTORY LAW`. A process of its own, because a bug may be
 * a loop. Prints one JSON line: where the law was broken, and which other laws were.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Simulate from '../src/simulate/index.ts';

const [directory = '', law = ''] = process.argv.slice(2);
const MAX_SEEDS = 1_000;
const MAX_STATES = 30_000;
/** So many seeds are tried even if the search has found it, for the table. */
const FEW_SEEDS = 60;

const mutated = (await import(pathToFileURL(join(directory, 'src/simulate/index.ts')).href)) as typeof Simulate;
const others = new Set<string>();

/** The shortest trace in one of the quick worlds. */
function search(): { readonly steps: number; readonly world: string } | null {
  for (const world of mutated.quickWorlds) {
    const { counterExamples } = mutated.prove({ worlds: [world], maxStates: MAX_STATES });
    for (const found of counterExamples) others.add(found.law);
    const found = counterExamples.find((one) => one.law === law);
    if (found !== undefined) return { steps: found.steps, world: world.name };
  }
  return null;
}

async function seeds(limit: number): Promise<{ readonly seed: number; readonly events: number } | null> {
  for (let seed = 1; seed <= limit; seed++) {
    const { violations } = await mutated.runTwice(mutated.optionsOf(seed));
    for (const violation of violations) others.add(violation.law);
    const found = violations.find((violation) => violation.law === law);
    if (found !== undefined) return { seed, events: found.position };
  }
  return null;
}

/** A search of a mutant that throws has found something too. */
function searched(): ReturnType<typeof search> {
  try {
    return search();
  } catch {
    others.add('core');
    return null;
  }
}

const bySearch = searched();
const bySeed = await seeds(bySearch === null ? MAX_SEEDS : FEW_SEEDS);
process.stdout.write(`${JSON.stringify({ bySearch, bySeed, others: [...others].filter((one) => one !== law) })}\n`);
