/**
 * One run of one seed: a stretch of storm, then (if asked) calm in which the world must converge, then the audit of its log. A run
 * is a function of its options: whatever else it looked at would show when it is run twice.
 */
import { createHash } from 'node:crypto';
import type { LoggedEvent } from '../events/index.ts';
import { routeKey, stateHash } from '../reconcile/index.ts';
import { drawAction, totalWeight, type Action } from './actions.ts';
import { Audit } from './audit.ts';
import type { Fault } from './faults.ts';
import type { Violation } from './law.ts';
import type { Moment } from './life.ts';
import { mischief } from './mischief.ts';
import { people } from './people.ts';
import { World, type WorldOptions } from './world.ts';

export interface RunOptions extends WorldOptions {
  /** Steps of the storm. */
  readonly steps: number;
  /** Whether the storm ends and the world must converge. */
  readonly calm: boolean;
}

export interface Outcome {
  readonly seed: number;
  readonly steps: number;
  readonly violations: readonly Violation[];
  /** `null`: the storm never ended. */
  readonly converged: boolean | null;
  /** Polls that a calm world needed to converge. */
  readonly polls: number;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly places: ReadonlyMap<string, number>;
  readonly log: readonly LoggedEvent[];
  readonly stateHash: string;
  /** Log, state and draws in one hash: equal for every run of the same options. */
  readonly digest: string;
}

/** Two hours of polls, far more than any rule of the stamp table waits. */
const MAX_CALM_POLLS = 24;
const MAX_CALM_ARRIVALS = 20_000;

/** Arrivals in one step that say nothing new. */
const MAX_SILENT = 8;

const actions: readonly Action[] = [...people, ...mischief];
const total = totalWeight(actions);

/** Runs once. */
export async function run(options: RunOptions): Promise<Outcome> {
  const world = new World(options);
  await world.settle();
  for (let step = 0; step < options.steps; step++) await stormStep(world);
  const calm = options.calm ? await calmDown(world) : { converged: null, polls: 0 };
  return conclude(world, options, calm);
}

/** A step is something that happens by itself, or the next arrival that is worth a row. */
async function stormStep(world: World): Promise<void> {
  if (world.random.chance(0.5)) {
    drawAction(world, actions, total).happen(world);
    return world.settle();
  }
  const { head } = world.disk.log;
  for (let i = 0; i < MAX_SILENT && world.disk.log.head === head && world.arrive(); i++) await world.settle();
}

async function calmDown(world: World): Promise<{ converged: boolean; polls: number }> {
  world.calmDown();
  const first = world.polls;
  for (let i = 0; i < MAX_CALM_ARRIVALS && world.polls - first <= MAX_CALM_POLLS; i++) {
    if (hasConverged(world)) return { converged: true, polls: world.polls - first };
    world.arrive();
    await world.settle();
  }
  return { converged: false, polls: world.polls - first };
}

/** The table is the truth, nothing is owed, and nobody is at work: but for what can never answer. */
function hasConverged(world: World): boolean {
  const { engine, running } = world.life;
  if (engine === null || engine.readOnly || (engine.active?.account ?? null) !== world.login) return false;
  const stuck = world.options.stuck ?? null;
  if (running.some((effect) => !('connector' in effect && effect.connector === stuck))) return false;
  if ([...engine.table.keys()].sort().join() !== world.truth().join()) return false;
  return isCurrent(world) && engine.status().due.every((text) => stuck !== null && text.includes(`/${stuck} `));
}

/** What is shown is shown for the connection that is true now. */
function isCurrent(world: World): boolean {
  for (const { account, connector, connectionVersion } of world.life.engine?.table.values() ?? []) {
    const line = account === null ? undefined : world.server.line(account, connector);
    if (line !== undefined && connectionVersion !== null && connectionVersion !== String(line.version)) return false;
  }
  return true;
}

function conclude(world: World, options: RunOptions, calm: { converged: boolean | null; polls: number }): Outcome {
  const log = [...world.disk.log.read()] as LoggedEvent[];
  const audit = new Audit();
  const violations: Violation[] = [...world.violations];
  replay(audit, log, world.moments, violations);
  const hash = stateHash(audit.state);
  const { engine } = world.life;
  if (engine?.readOnly === false && !world.disk.intruded && engine.stateHash() !== hash)
    violations.push({ law: 'L13', position: log.length, text: 'the log folds to another state than the live one' });
  if (calm.converged === false) violations.push(notConverged(world, log.length));
  return {
    seed: options.seed,
    steps: options.steps,
    violations,
    converged: calm.converged,
    polls: calm.polls,
    faults: world.weather.counts,
    places: audit.places,
    log,
    stateHash: hash,
    digest: digestOf(log, hash, world.random.trace()),
  };
}

function notConverged(world: World, position: number): Violation {
  const law = world.options.stuck != null ? 'L19' : world.options.hints === false ? 'L10' : 'L9';
  const shown = [...(world.life.engine?.table.keys() ?? [])].sort().join(' ');
  const owed = world.life.engine?.status().due.join('; ') ?? 'no process';
  return { law, position, text: `shown: ${shown}; true: ${world.truth().join(' ')}; owed: ${owed}` };
}

/** Folds the log anew and holds what was seen live against it (laws L8, L12, L13), and the log against the other laws. */
function replay(audit: Audit, log: readonly LoggedEvent[], moments: readonly Moment[], violations: Violation[]): void {
  const seen = new Map<number, Moment[]>();
  for (const moment of moments) {
    const at = seen.get(moment.durable);
    if (at === undefined) seen.set(moment.durable, [moment]);
    else at.push(moment);
  }
  for (const event of log) {
    audit.take(event);
    for (const moment of seen.get(event.position) ?? []) compare(audit, moment, violations);
  }
  violations.push(...audit.violations);
}

function compare({ table }: Audit, { rows, exact, durable }: Moment, violations: Violation[]): void {
  const same = rows.filter((row) => {
    const replayed = table.entries.get(routeKey(row.account, row.connector));
    return replayed?.generation === row.generation && replayed.epoch === row.epoch;
  });
  if (same.length < rows.length)
    violations.push({ law: 'L8', position: durable, text: 'more was shown than the durable log says' });
  if (exact && table.entries.size > same.length)
    violations.push({ law: 'L13', position: durable, text: 'less was shown than the durable log says' });
}

function digestOf(log: readonly LoggedEvent[], state: string, draws: string): string {
  return createHash('sha256').update(JSON.stringify(log)).update(state).update(draws).digest('hex');
}
