/**
 * simulate/ answers "what could be": worlds from a seed, and all worlds of a small size, over the shipped core.
 *
 * `simulate` draws storms of faults and holds every log against the laws; `prove` explores a small world to its last state. Both run
 * evolve, the projector, what is due and the engine as they are shipped, never a model of them.
 * May import: events, machines, reconcile, replay. Must never: look at a clock, draw from anything but its seed, touch a file or a
 * socket. Those who embed the core put their own host into the world: see host.ts.
 */
export {
  COVERAGE_RUNS,
  DEFAULT_STEPS,
  optionsOf,
  runTwice,
  simulate,
  unmetFaults,
  type Finding,
  type SimulateOptions,
  type Simulation,
} from './simulate.ts';
export { run, type Outcome, type RunOptions } from './run.ts';
export { World, type WorldOptions } from './world.ts';
export { Audit } from './audit.ts';
export { faults, faultNames, type Fault } from './faults.ts';
export { laws, lawNames, type Law, type Violation } from './law.ts';
export { plainHost, type MakeHost } from './host.ts';
export type { Dialled, Outside, Reply } from './outside.ts';
export { prove, type CounterExample, type ExploredWorld, type Proof, type ProveOptions } from './explore/prove.ts';
export { fullWorlds, quickWorlds, shortWorlds } from './explore/worlds.ts';
export { Search, type Explored, type Found, type SearchOptions } from './explore/search.ts';
export type { SmallWorld } from './explore/small.ts';
