/**
 * machines/ answers "what should be": two flat XState declarations, and this compiler that turns a declaration into a table.
 *
 * The declaration is the single source; the table is what runs: public `transition()` builds an actor for each call, and costs some
 * hundred times a step of the table (`npm run bench -- machine`). The compiler knows named guards, `assign` of a whole context, root and
 * state transitions and eventless transitions. Everything else (timers, invoked actors, entry and exit actions, nesting, wildcards,
 * inline guards) it refuses at load, because a feature that is ignored in silence is a machine that lies. Imports events and xstate
 * only; never looks at a clock.
 */
import type { AnyStateMachine } from 'xstate';

/** Where a machine stands: a state's name and the context. Replaced, never mutated, so a step can be compared by identity. */
export interface Standing<V extends string, C> {
  readonly value: V;
  readonly context: C;
}

/** One way out of a state: the first whose guard holds is taken. `target` absent: the state stays. */
export interface Branch {
  readonly guard: string | null;
  readonly actions: readonly string[];
  readonly target: string | null;
}

/** State → type of evidence → branches, in order. What is missing is ignored, and says so in the matrix. */
export type Cells = ReadonlyMap<string, ReadonlyMap<string, readonly Branch[]>>;

export interface Table<V extends string, C extends object, E extends { readonly type: string }> {
  readonly initial: Standing<V, C>;
  readonly cells: Cells;
  /** Eventless branches of a state, taken at once on arrival. */
  readonly always: ReadonlyMap<string, readonly Branch[]>;
  /** The next standing; the very same object when nothing changed. */
  step(standing: Standing<V, C>, evidence: E): Standing<V, C>;
}

/** The declaration uses something that the table could not honour. */
export class NotCompilable extends Error {
  override readonly name = 'NotCompilable';
}

interface RawTransition {
  target?: unknown;
  guard?: unknown;
  actions?: unknown;
  reenter?: unknown;
  meta?: unknown;
  description?: unknown;
}
type Raw = Readonly<Record<string, unknown>>;

const ROOT_KEYS = new Set(['id', 'context', 'initial', 'on', 'states', 'version', 'description', 'types', 'schemas']);
const STATE_KEYS = new Set(['on', 'always', 'description']);
const TRANSITION_KEYS = new Set(['target', 'guard', 'actions', 'description']);
/** More eventless steps than this in a row is a loop in the declaration. */
const MAX_ALWAYS = 32;

/** Compiles a flat declaration. `V` are the states it can rest in. Throws {@link NotCompilable} naming the place. */
export function compile<V extends string, C extends object, E extends { readonly type: string }>(
  machine: AnyStateMachine,
): Table<V, C, E> {
  const config = machine.config as Raw;
  const states = statesOf(config);
  const root = branchesByType(config['on'], states, 'the root');
  const cells = new Map<string, ReadonlyMap<string, readonly Branch[]>>();
  const always = new Map<string, readonly Branch[]>();
  for (const [name, state] of Object.entries(states)) {
    only(state, STATE_KEYS, `state "${name}"`);
    const own = branchesByType(state['on'], states, `state "${name}"`);
    cells.set(name, mergeOwnBeforeRoot(own, root));
    if (state['always'] !== undefined) always.set(name, branches(state['always'], states, `always of "${name}"`));
  }
  const initial = { value: config['initial'] as V, context: config['context'] as C };
  if (always.has(initial.value)) throw new NotCompilable(`initial state "${initial.value}" must be one to rest in`);
  return {
    initial,
    cells,
    always,
    step: stepper<V, C, E>(bindCells(machine, cells, always)),
  };
}

function statesOf(config: Raw): Readonly<Record<string, Raw>> {
  only(config, ROOT_KEYS, 'the root');
  if (typeof config['context'] === 'function')
    throw new NotCompilable('context must be a value: a factory runs once per call and may read anything');
  const states = config['states'] as Readonly<Record<string, Raw>> | undefined;
  if (states === undefined || typeof config['initial'] !== 'string')
    throw new NotCompilable('the root needs states and an initial one');
  return states;
}

function only(value: Raw, allowed: ReadonlySet<string>, where: string): void {
  const foreign = Object.keys(value).find((key) => !allowed.has(key));
  if (foreign !== undefined)
    throw new NotCompilable(
      `"${foreign}" of ${where} has no place in a table: time, actors and nesting stay outside the machine`,
    );
}

function branchesByType(on: unknown, states: object, where: string): ReadonlyMap<string, readonly Branch[]> {
  const found = new Map<string, readonly Branch[]>();
  for (const [type, transition] of Object.entries((on ?? {}) as Raw)) {
    if (type.includes('*')) throw new NotCompilable(`wildcard "${type}" of ${where}: name the evidence`);
    found.set(type, branches(transition, states, `"${type}" of ${where}`));
  }
  return found;
}

function branches(transition: unknown, states: object, where: string): readonly Branch[] {
  return (Array.isArray(transition) ? transition : [transition]).map((one: unknown) => branch(one, states, where));
}

function branch(raw: unknown, states: object, where: string): Branch {
  if (typeof raw === 'string') return { guard: null, actions: [], target: targetOf(raw, states, where) };
  const transition = raw as RawTransition;
  only(transition as Raw, TRANSITION_KEYS, where);
  if (transition.guard !== undefined && typeof transition.guard !== 'string')
    throw new NotCompilable(`guard of ${where} must be a name`);
  const actions = transition.actions === undefined ? [] : [transition.actions].flat();
  if (!actions.every((action): action is string => typeof action === 'string'))
    throw new NotCompilable(`actions of ${where} must be names`);
  const target = transition.target === undefined ? null : targetOf(transition.target, states, where);
  return { guard: transition.guard ?? null, actions, target };
}

function targetOf(target: unknown, states: object, where: string): string {
  const name = typeof target === 'string' ? target.replace(/^\./, '') : '';
  if (!Object.hasOwn(states, name)) throw new NotCompilable(`target ${JSON.stringify(target)} of ${where} is no state`);
  return name;
}

/** A state's own branches are asked first; where all their guards fail, XState goes on to the root's. */
function mergeOwnBeforeRoot(
  own: ReadonlyMap<string, readonly Branch[]>,
  root: ReadonlyMap<string, readonly Branch[]>,
): ReadonlyMap<string, readonly Branch[]> {
  const merged = new Map(root);
  for (const [type, list] of own) merged.set(type, [...list, ...(root.get(type) ?? [])]);
  return merged;
}

interface Args {
  context: unknown;
  readonly event: unknown;
}
type Guard = (args: Args) => boolean;
/**
 * Gives the whole next context, or the very one that it was given where nothing differs. XState would take some members too and merge
 * them, which costs as much as all the rest of a step.
 */
type Assignment = (args: Args) => unknown;
interface Bound {
  readonly guard: Guard | null;
  readonly assignments: readonly Assignment[];
  readonly target: string | null;
  /** What is asked at once where this leads to; `undefined`: it rests there. */
  eventless: readonly Bound[] | undefined;
}
/** State → type → what to do; plain objects without a prototype, as a lookup in them is the cheapest there is. */
type BoundCells = Readonly<Record<string, Readonly<Record<string, readonly Bound[]>>>>;

/** Names are bound to functions once, at load; a name without a function is refused there, not on the day it is met. */
function bindCells(machine: AnyStateMachine, cells: Cells, always: ReadonlyMap<string, readonly Branch[]>): BoundCells {
  const eventless = bindRow(machine, always);
  const rows = [...cells].map(([state, row]) => [state, bindRow(machine, row)] as const);
  for (const [state, branches] of Object.entries(eventless)) lead(state, branches, eventless);
  for (const [state, row] of rows) for (const branches of Object.values(row)) lead(state, branches, eventless);
  return bare(rows);
}

/** Tells every branch of a state what follows on it, so that a step need not look it up. */
function lead(state: string, branches: readonly Bound[], eventless: Readonly<Record<string, readonly Bound[]>>): void {
  for (const branch of branches) branch.eventless = eventless[branch.target ?? state];
}

const bindRow = (
  machine: AnyStateMachine,
  row: ReadonlyMap<string, readonly Branch[]>,
): Readonly<Record<string, readonly Bound[]>> =>
  bare([...row].map(([type, branches]) => [type, bindBranches(machine, branches)] as const));

const bindBranches = (machine: AnyStateMachine, branches: readonly Branch[]): readonly Bound[] =>
  branches.map(({ guard, actions, target }) => ({
    guard: guard === null ? null : guardOf(machine, guard),
    assignments: wholeAssignments(machine, actions),
    target,
    eventless: undefined,
  }));

const bare = <T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> =>
  Object.setPrototypeOf(Object.fromEntries(entries), null) as Readonly<Record<string, T>>;

function guardOf(machine: AnyStateMachine, name: string): Guard {
  const guard = machine.implementations.guards[name] as unknown;
  if (typeof guard !== 'function') throw new NotCompilable(`guard "${name}" has no implementation`);
  return guard as Guard;
}

function assignmentOf(machine: AnyStateMachine, name: string): Assignment {
  const action = machine.implementations.actions[name] as unknown as
    { type?: string; assignment?: unknown } | undefined;
  if (action?.type !== 'xstate.assign' || typeof action.assignment !== 'function')
    throw new NotCompilable(`action "${name}" must be an assign of one function`);
  return action.assignment as Assignment;
}

/**
 * What an assign gives is seen only when it is taken. So one that gives some members only is refused then, and each is looked at once:
 * counting costs as much as a step.
 */
function wholeAssignments(machine: AnyStateMachine, names: readonly string[]): readonly Assignment[] {
  const size = Object.keys(machine.config.context as Raw).length;
  const bound = names.map((name, index): Assignment => {
    const assignment = assignmentOf(machine, name);
    return (args) => {
      const context = assignment(args);
      if (Object.keys(context as Raw).length < size)
        throw new NotCompilable(`assign "${name}" must give the whole context: members it left out would be lost`);
      bound[index] = assignment;
      return context;
    };
  });
  return bound;
}

function stepper<V extends string, C extends object, E extends { readonly type: string }>(
  cells: BoundCells,
): (standing: Standing<V, C>, evidence: E) => Standing<V, C> {
  return (standing, evidence) => {
    const args: Args = { context: standing.context, event: evidence };
    const taken = firstOpen(cells[standing.value]?.[evidence.type] ?? NO_BRANCHES, args);
    if (taken === undefined) return standing;
    const value = follow(taken, args) ?? standing.value;
    if (value === standing.value && args.context === standing.context) return standing;
    return { value: value as V, context: args.context as C };
  };
}

const NO_BRANCHES: readonly Bound[] = [];

function firstOpen(branches: readonly Bound[], args: Args): Bound | undefined {
  for (const branch of branches) if (branch.guard === null || branch.guard(args)) return branch;
  return undefined;
}

/** Takes a branch and what follows of itself: their assigns change `args.context`. Returns where it comes to rest; `null`: where it was. */
function follow(taken: Bound, args: Args): string | null {
  let branch = taken;
  let value: string | null = null;
  for (let i = 0; i <= MAX_ALWAYS; i++) {
    for (const assign of branch.assignments) args.context = assign(args);
    value = branch.target ?? value;
    const next = branch.eventless === undefined ? undefined : firstOpen(branch.eventless, args);
    if (next === undefined) return value;
    branch = next;
  }
  throw new NotCompilable(`eventless steps to "${value ?? ''}" do not come to rest`);
}
