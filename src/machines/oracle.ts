/**
 * The real XState as oracle: what the library itself does with a declaration, step by step, through its public pure API. Slow on
 * purpose; tests hold the compiled table against it. A move to another major of XState is a change of this file and `compile.ts`.
 */
import { transition, type AnyStateMachine, type AnyMachineSnapshot } from 'xstate';
import type { Standing } from './compile.ts';

/** One step of the real library from a standing. Throws when the library keeps actions to run: a machine here only assigns. */
export function oracleStep<V extends string, C, E extends { readonly type: string }>(
  machine: AnyStateMachine,
  standing: Standing<V, C>,
  evidence: E,
): Standing<V, C> {
  const snapshot = machine.resolveState({ value: standing.value, context: standing.context }) as AnyMachineSnapshot;
  const [next, actions] = transition(machine, snapshot, evidence);
  if (actions.length > 0) throw new Error(`"${evidence.type}" left ${String(actions.length)} actions to run`);
  return { value: (next as AnyMachineSnapshot).value as V, context: (next as AnyMachineSnapshot).context as C };
}
