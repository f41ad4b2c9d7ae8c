/** What may happen in the world by itself: a list of things with weights, of which each step draws one. */
import type { World } from './world.ts';

export interface Action {
  readonly weight: number;
  readonly happen: (world: World) => void;
}

export const action = (weight: number, happen: (world: World) => void): Action => ({ weight, happen });

/** Draws one by weight. */
export function drawAction(world: World, actions: readonly Action[], total: number): Action {
  let left = world.random.below(total);
  for (const one of actions) {
    left -= one.weight;
    if (left < 0) return one;
  }
  return actions[0]!;
}

export const totalWeight = (actions: readonly Action[]): number => actions.reduce((sum, { weight }) => sum + weight, 0);
