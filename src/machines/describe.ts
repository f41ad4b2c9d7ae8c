/** What a compiled table says of itself: the total matrix (committed, typed without holes) and the Mermaid diagram of the docs. */
import type { Table } from './compile.ts';

type AnyTable = Pick<Table<string, object, { readonly type: string }>, 'cells' | 'always' | 'initial'>;

/** A cell of the matrix: `ignored`, or the assigns run and the states in which it can come to rest. */
export type Cell = 'ignored' | { readonly assigns: readonly string[]; readonly rests: readonly string[] };

const restingStates = (table: AnyTable): string[] =>
  [...table.cells.keys()].filter((state) => !table.always.has(state));

/** State → evidence → cell, over every state that a machine can rest in and every type of evidence. */
export function matrixOf(table: AnyTable): Record<string, Record<string, Cell>> {
  const types = [...new Set([...table.cells.values()].flatMap((row) => [...row.keys()]))];
  const row = (state: string): Record<string, Cell> =>
    Object.fromEntries(types.map((type) => [type, cellOf(table, state, type)]));
  return Object.fromEntries(restingStates(table).map((state) => [state, row(state)]));
}

function cellOf(table: AnyTable, state: string, type: string): Cell {
  const branches = table.cells.get(state)?.get(type);
  if (branches === undefined) return 'ignored';
  const rests = branches.flatMap(({ target }) => restsFrom(table, target ?? state));
  return { assigns: [...new Set(branches.flatMap(({ actions }) => actions))], rests: [...new Set(rests)] };
}

function restsFrom(table: AnyTable, state: string): string[] {
  const eventless = table.always.get(state);
  return eventless === undefined ? [state] : eventless.flatMap(({ target }) => restsFrom(table, target ?? state));
}

/** The diagram: evidence settles, and the guards in their order say where. */
export function mermaidOf(table: AnyTable): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${id(table.initial.value)}`];
  for (const [state, row] of table.cells) {
    if (table.always.has(state)) continue;
    const byTarget = new Map<string, string[]>();
    for (const [type, branches] of row) for (const { target } of branches) push(byTarget, target ?? state, type);
    for (const [target, types] of byTarget) lines.push(`  ${id(state)} --> ${id(target)}: ${types.join(', ')}`);
  }
  for (const [state, branches] of table.always) {
    branches.forEach(({ guard, target }, index) =>
      lines.push(`  ${id(state)} --> ${id(target ?? state)}: ${String(index + 1)}. ${guard ?? 'else'}`),
    );
  }
  return `${lines.join('\n')}\n`;
}

const id = (state: string): string => state.replaceAll('-', '_');

function push(map: Map<string, string[]>, key: string, value: string): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}
