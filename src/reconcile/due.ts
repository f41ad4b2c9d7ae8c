/**
 * What is owed: the difference between desired and observed, as effects. From the state alone, level-triggered, so that a crash
 * loses nothing and a cancellation is the absence of an effect. Three kinds, no more; each ends in exactly one event (law L14).
 */
import { generationOf, wantsSnapshot } from '../machines/index.ts';
import { standingOf } from './standing.ts';
import { findRoute, type RouteRecord, type State } from './state.ts';
import { handleOf } from './project.ts';

export interface FetchSnapshot {
  readonly kind: 'fetchSnapshot';
  readonly account: string;
  readonly epoch: number;
}
export interface RouteEffect {
  readonly kind: 'openRoute' | 'closeRoute';
  readonly account: string | null;
  readonly connector: string;
  readonly generation: string;
  readonly epoch: number;
}
export type Effect = FetchSnapshot | RouteEffect;

/** An effect's identity is its own text: the same work owed twice is one work. */
export function effectText(effect: Effect): string {
  return effect.kind === 'fetchSnapshot'
    ? `fetchSnapshot ${effect.account} ${String(effect.epoch)}`
    : `${effect.kind} ${effect.account ?? ''}/${effect.connector} ${effect.generation} ${String(effect.epoch)}`;
}

/** What is owed for one route: every handle that is not the wanted one is closed, and the wanted one opened. Closes first. */
export function dueForRoute(state: State, route: RouteRecord): readonly RouteEffect[] {
  const { account, connector } = route;
  const { wanted, epoch } = standingOf(state, route);
  const generation = wanted ? generationOf(route.machine.context) : null;
  const owed: RouteEffect[] = [];
  for (const handle of route.handles) {
    if (handle.generation === generation && handle.epoch === epoch) continue;
    owed.push({ kind: 'closeRoute', account, connector, generation: handle.generation, epoch: handle.epoch });
  }
  if (generation !== null && handleOf(route, generation, epoch) === undefined) {
    owed.push({ kind: 'openRoute', account, connector, generation, epoch });
  }
  return owed;
}

/** What is owed for one account: a snapshot, from the instant on at which it may be asked for. */
export function dueForAccount(state: State, account: string): readonly FetchSnapshot[] {
  const context = state.accounts.get(account)?.machine.context;
  if (context === undefined || context.epoch === null || !wantsSnapshot(context)) return [];
  return state.head.now >= context.notBeforeMs ? [{ kind: 'fetchSnapshot', account, epoch: context.epoch }] : [];
}

/** Everything owed: closes before fetches before opens. */
export function due(state: State): readonly Effect[] {
  const routes: RouteEffect[] = [];
  for (const ofAccount of state.routes.values())
    for (const route of ofAccount.values()) routes.push(...dueForRoute(state, route));
  const fetches = [...state.accounts.keys()].flatMap((account) => dueForAccount(state, account));
  return [...routes.filter(isClose), ...fetches, ...routes.filter((effect) => !isClose(effect))];
}

const isClose = (effect: RouteEffect): boolean => effect.kind === 'closeRoute';

/** The earliest instant that would change what is owed or seen, in ms since epoch; `null`: nothing waits for time. */
export const nextWake = (state: State): number | null => state.deadlines.next(state);

/** Whether an effect is still owed, asked by its identity. */
export function isDue(state: State, effect: Effect): boolean {
  if (effect.kind === 'fetchSnapshot')
    return dueForAccount(state, effect.account).some(({ epoch }) => epoch === effect.epoch);
  const route = findRoute(state, effect.account, effect.connector);
  if (route === undefined) return false;
  const text = effectText(effect);
  return dueForRoute(state, route).some((owed) => effectText(owed) === text);
}
