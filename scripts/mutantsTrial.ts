/**
 * One mutated copy of the core, tried by its own worlds: `mutantsTrial.ts DIRECTORY LAW all`, or `search` for the exhaustive walk alone.
 * A process of its own, because a bug may be a loop. Prints one JSON line: where the law was broken, and which other laws were.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Simulate from '../src/simulate/index.ts';

const [directory = '', law = '', how = 'all'] = process.argv.slice(2);
/** Looked at in any case, for the table. */
const FEW = { seeds: 40, states: 6_000 };
/** Looked at before a mutant has survived. */
const MANY = { seeds: 1_000, states: 100_000 };

const mutated = (await import(pathToFileURL(join(directory, 'src/simulate/index.ts')).href)) as typeof Simulate;
const others = new Set<string>();

/** The shortest trace in one of the quick worlds. */
function search(maxStates: number): { readonly steps: number; readonly world: string } | null {
  for (const world of mutated.quickWorlds) {
    const { counterExamples } = mutated.prove({ worlds: [world], maxStates });
    for (const found of counterExamples) others.add(found.law);
    const found = counterExamples.find((one) => one.law === law);
    if (found !== undefined) return { steps: found.steps, world: world.name };
  }
  return null;
}

async function seeds(first: number, last: number): Promise<{ readonly seed: number; readonly events: number } | null> {
  for (let seed = first; seed <= last; seed++) {
    const { violations } = await mutated.runTwice(mutated.optionsOf(seed));
    for (const violation of violations) others.add(violation.law);
    const found = violations.find((violation) => violation.law === law);
    if (found !== undefined) return { seed, events: found.position };
  }
  return null;
}

/** A mutant that throws has shown itself too, if not by its law. */
function searched(maxStates: number): ReturnType<typeof search> {
  try {
    return search(maxStates);
  } catch {
    others.add('core');
    return null;
  }
}

let bySeed = how === 'all' ? await seeds(1, FEW.seeds) : null;
let bySearch = searched(FEW.states);
if (bySeed === null && bySearch === null) bySearch = searched(MANY.states);
if (how === 'all' && bySeed === null && bySearch === null) bySeed = await seeds(FEW.seeds + 1, MANY.seeds);
process.stdout.write(`${JSON.stringify({ bySearch, bySeed, others: [...others].filter((one) => one !== law) })}\n`);
