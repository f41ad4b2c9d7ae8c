import { assign, setup } from 'xstate';
import { describe, expect, test } from 'vitest';
import { accountTable, compile, matrixOf, mermaidOf, NotCompilable, routeTable } from '../../src/machines/index.ts';

const parts = setup({
  types: { context: {} as { n: number }, events: {} as { type: 'go' } | { type: 'stop' } },
  guards: { isHigh: ({ context }) => context.n > 1 },
  actions: { add: assign(({ context }) => ({ n: context.n + 1 })), shout: () => undefined },
});

describe('a declaration with a feature that a table could not honour is refused by name', () => {
  const refused: [string, () => unknown, RegExp][] = [
    [
      'a timer',
      () => parts.createMachine({ context: { n: 0 }, initial: 'a', states: { a: { after: { 10: 'a' } } } }),
      /"after" of state "a"/,
    ],
    [
      'an entry action',
      () => parts.createMachine({ context: { n: 0 }, initial: 'a', states: { a: { entry: 'add' } } }),
      /"entry" of state "a"/,
    ],
    [
      'a nested state',
      () =>
        parts.createMachine({ context: { n: 0 }, initial: 'a', states: { a: { initial: 'b', states: { b: {} } } } }),
      /of state "a"/,
    ],
    [
      'a context factory',
      () => parts.createMachine({ context: () => ({ n: 0 }), initial: 'a', states: { a: {} } }),
      /context must be a value/,
    ],
    [
      'a wildcard',
      () =>
        parts.createMachine({ context: { n: 0 }, initial: 'a', states: { a: { on: { '*': { actions: 'add' } } } } }),
      /wildcard/,
    ],
    [
      'an inline guard',
      () =>
        parts.createMachine({ context: { n: 0 }, initial: 'a', states: { a: { on: { go: { guard: () => true } } } } }),
      /guard of "go"/,
    ],
    [
      'an action that is no assign',
      () =>
        parts.createMachine({ context: { n: 0 }, initial: 'a', states: { a: { on: { go: { actions: 'shout' } } } } }),
      /"shout" must be an assign/,
    ],
    [
      'a re-entering transition',
      () =>
        parts.createMachine({
          context: { n: 0 },
          initial: 'a',
          states: { a: { on: { go: { target: 'a', reenter: true } } } },
        }),
      /"reenter"/,
    ],
  ];
  test.each(refused)('%s', (_, declare, words) => {
    const attempt = (): unknown => compile(declare() as never);
    expect(attempt).toThrow(NotCompilable);
    expect(attempt).toThrow(words);
  });
});

test('a step that changes nothing returns the very same standing', () => {
  expect(routeTable.step(routeTable.initial, { type: 'ticked', nowMs: 5 })).toBe(routeTable.initial);
  expect(accountTable.step(accountTable.initial, { type: 'left' })).toBe(accountTable.initial);
});

test('an assign that gives some members only is refused when it is taken, not merged and not obeyed', () => {
  const machine = setup({
    types: { context: {} as { n: number; m: number }, events: {} as { type: 'go' } },
    actions: { some: assign(({ context }) => ({ n: context.n + 1 })) },
  }).createMachine({ context: { n: 0, m: 7 }, initial: 'a', states: { a: { on: { go: { actions: 'some' } } } } });
  const table = compile<string, { n: number; m: number }, { type: 'go' }>(machine);
  expect(() => table.step(table.initial, { type: 'go' })).toThrow(/"some" must give the whole context/);
});

test('where no eventless step is open it rests, as in XState', () => {
  const machine = parts.createMachine({
    context: { n: 0 },
    initial: 'a',
    states: { a: { on: { go: { target: 'b', actions: 'add' } } }, b: { always: { guard: 'isHigh', target: 'a' } } },
  });
  const { step, initial } = compile<string, { n: number }, { type: 'go' }>(machine);
  expect(step(initial, { type: 'go' })).toEqual({ value: 'b', context: { n: 1 } });
  expect(step({ value: 'a', context: { n: 1 } }, { type: 'go' })).toEqual({ value: 'a', context: { n: 2 } });
});

test('eventless steps that never come to rest are named, not followed for ever', () => {
  const loop = parts.createMachine({
    context: { n: 0 },
    initial: 'a',
    states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
  });
  const table = compile<string, { n: number }, { type: 'go' }>(loop);
  expect(() => table.step(table.initial, { type: 'go' })).toThrow(/do not come to rest/);
});

test('the matrix has a cell for every state and every evidence, and names the ignored ones', () => {
  const matrix = matrixOf(routeTable as never);
  const widths = new Set(Object.values(matrix).map((row) => Object.keys(row).length));
  expect([Object.keys(matrix).length, widths.size]).toEqual([14, 1]);
  expect(matrix['disconnected']?.['opened']).toBe('ignored');
  expect(matrix['wanted']?.['opened']).not.toBe('ignored');
  expect(mermaidOf(routeTable as never)).toContain('settling --> wanted: 14. else');
});
