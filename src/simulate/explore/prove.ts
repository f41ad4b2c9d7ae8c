/** Explores small worlds to the end and says what was found: the answer of `dacapo prove`. */
import type { Law } from '../law.ts';
import { Search, type Explored } from './search.ts';
import type { SmallWorld } from './small.ts';
import { traceOf, type Trace } from './trace.ts';
import { fullWorlds } from './worlds.ts';

export interface ProveOptions {
  /** All of {@link fullWorlds} when absent. */
  readonly worlds?: readonly SmallWorld[] | undefined;
  /** Told now and then, for a progress line. */
  readonly onProgress?: ((world: string, states: number, depth: number) => void) | undefined;
  /** Gives up on a world beyond this many states. */
  readonly maxStates?: number | undefined;
}

/** A law that a small world broke, with the shortest way there. */
export interface CounterExample extends Trace {
  readonly world: string;
  readonly law: Law | 'core';
  readonly text: string;
}

export interface ExploredWorld extends Omit<Explored, 'unsafe' | 'firstStuck'> {
  readonly name: string;
  readonly about: string;
  readonly unsafe: number;
}

export interface Proof {
  readonly states: number;
  readonly edges: number;
  /** Of the deepest world. */
  readonly depth: number;
  readonly unsafe: number;
  readonly stuck: number;
  /** Every world was explored to its last state. */
  readonly complete: boolean;
  readonly worlds: readonly ExploredWorld[];
  readonly counterExamples: readonly CounterExample[];
}

const NEVER = 'a calm world never converges from here';

export function prove(options: ProveOptions = {}): Proof {
  const worlds: ExploredWorld[] = [];
  const counterExamples: CounterExample[] = [];
  for (const world of options.worlds ?? fullWorlds) {
    const explored = explore(world, options);
    worlds.push({ name: world.name, about: world.about, ...explored, unsafe: explored.unsafe.length });
    counterExamples.push(...examplesOf(world, explored));
  }
  const sum = (of: (world: ExploredWorld) => number): number => worlds.reduce((total, world) => total + of(world), 0);
  return {
    states: sum(({ states }) => states),
    edges: sum(({ edges }) => edges),
    depth: Math.max(...worlds.map(({ depth }) => depth)),
    unsafe: sum(({ unsafe }) => unsafe),
    stuck: sum(({ stuck }) => stuck),
    complete: worlds.every(({ complete }) => complete),
    worlds,
    counterExamples,
  };
}

function explore(world: SmallWorld, { maxStates, onProgress }: ProveOptions): Explored {
  const tell = (states: number, depth: number): void => onProgress?.(world.name, states, depth);
  return new Search(world, { maxStates, onProgress: tell }).run();
}

/** One for each law, and one for the first state that is stuck: the rest are the same story again. */
function examplesOf(world: SmallWorld, { unsafe, firstStuck }: Explored): readonly CounterExample[] {
  const first = unsafe.filter(({ law }, index) => unsafe.findIndex((other) => other.law === law) === index);
  const stuck = firstStuck === null ? [] : [{ law: 'L9' as const, text: NEVER, way: firstStuck }];
  return [...first, ...stuck].map(({ law, text, way }) => ({
    world: world.name,
    law,
    text,
    ...traceOf(world, way, { law, text }),
  }));
}
