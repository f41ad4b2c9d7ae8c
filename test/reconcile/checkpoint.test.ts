import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeColumns, LateMap, type LateList } from '../../src/reconcile/columnReader.ts';
import { encodeColumns } from '../../src/reconcile/columns.ts';
import { decodeCheckpoint, encodeCheckpoint } from '../../src/reconcile/checkpoint.ts';
import {
  due,
  evolve,
  initialState,
  nextWake,
  StateHasher,
  stateHash,
  type RouteRecord,
  type State,
} from '../../src/reconcile/index.ts';
import { openRoutes } from '../../src/reconcile/state.ts';
import type { RecordedEvent } from '../../src/events/index.ts';
import { run } from '../../src/simulate/index.ts';
import { tales } from '../support/tales.ts';

const histories = await Promise.all(
  Object.values(tales).map(async (tell): Promise<readonly RecordedEvent[]> => [...(await tell()).log.read()]),
);

interface Followed {
  readonly state: State;
  readonly hasher: StateHasher;
}
function start(): Followed {
  const state = initialState();
  return { state, hasher: new StateHasher(state) };
}
function follow({ state, hasher }: Followed, event: RecordedEvent): void {
  hasher.note(evolve(state, event));
}
const itemsOf = (list: LateList): unknown[] => Array.from({ length: list.length }, (_, index) => list.item(index));
const told = ({ state, hasher }: Followed): unknown => [hasher.hash(), stateHash(state), due(state), nextWake(state)];

describe('a checkpoint', () => {
  test('gives back the state that was put by, at every position of every tale, and goes on like it', () => {
    for (const events of histories) {
      const lives = [start()];
      for (const event of events) {
        for (const life of lives) follow(life, event);
        const [first] = lives;
        if (first === undefined) continue;
        lives.push(decodeCheckpoint(encodeCheckpoint(first.state, first.hasher)));
        for (const life of lives) expect(told(life)).toEqual(told(first));
      }
    }
  });

  test('is not read for the routes that are open: a start asks for them, and for no other', () => {
    for (const events of histories) {
      const life = start();
      for (const event of events) follow(life, event);
      const bytes = encodeCheckpoint(life.state, life.hasher);
      const { state } = decodeCheckpoint(bytes);
      // Whoever reads anything more reads rubbish.
      bytes.fill(0xff);
      expect([...openRoutes(state)]).toEqual([...openRoutes(life.state)]);
    }
  });

  test('gives back the state of any world, whatever its faults, and goes on like it', { timeout: 60_000 }, async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const { log } = await run({ seed, steps: 300, calm: true });
      let life: Followed = start();
      const folded = start();
      for (const event of log) {
        follow(life, event);
        follow(folded, event);
        if (event.position % 37 === seed) life = decodeCheckpoint(encodeCheckpoint(life.state, life.hasher));
      }
      expect(told(life)).toEqual(told(folded));
    }
  });

  test('keeps what was one object one object', () => {
    for (const events of histories) {
      const life = start();
      for (const event of events) follow(life, event);
      const { state } = decodeCheckpoint(encodeCheckpoint(life.state, life.hasher));
      for (const [connector, { device }] of life.state.connectors)
        for (const [account, routes] of life.state.routes) {
          const same = routes.get(connector)?.machine.context.device === device;
          const restored = state.routes.get(account)?.get(connector)?.machine.context.device;
          expect(restored === state.connectors.get(connector)?.device).toBe(same);
        }
    }
  });

  test('has read the routes that have a handle, and no others', () => {
    for (const events of histories) {
      const life = start();
      for (const event of events) follow(life, event);
      const { state } = decodeCheckpoint(encodeCheckpoint(life.state, life.hasher));
      for (const [account, routes] of life.state.routes) {
        const restored = state.routes.get(account) as LateMap<RouteRecord>;
        const open = [...routes.values()].filter(({ handles }) => handles.length > 0);
        expect([...restored.present()]).toEqual(open);
        expect([...restored]).toEqual([...routes]);
      }
    }
  });

  test('cut off anywhere is refused', () => {
    const life = start();
    for (const event of histories[0] ?? []) follow(life, event);
    const bytes = encodeCheckpoint(life.state, life.hasher);
    for (let length = 0; length < bytes.length; length += 7)
      expect(() => decodeCheckpoint(bytes.slice(0, length))).toThrow();
  });
});

describe('columns', () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0));
  const word = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), double, fc.boolean(), fc.constant(null));
  const keys = fc.string().filter((key) => key !== '__proto__');
  const { data } = fc.letrec((tie) => ({
    data: fc.oneof({ maxDepth: 4 }, word, fc.array(tie('data'), { maxLength: 5 }), fc.dictionary(keys, tie('data'), { maxKeys: 4, noNullPrototype: true })), // prettier-ignore
  }));

  test('come back as they were, whatever the data', () => {
    fc.assert(
      fc.property(data, fc.integer({ min: 0, max: 7 }), fc.boolean(), (value, offset, asBuffer) => {
        const bytes = encodeColumns(value);
        const moved = asBuffer ? Buffer.alloc(bytes.length + offset) : new Uint8Array(bytes.length + offset);
        moved.set(bytes, offset);
        expect(decodeColumns(moved.subarray(offset)).value).toStrictEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  test('give the items of a late list one by one, and what was one object as one', () => {
    fc.assert(
      fc.property(fc.array(data), fc.array(data), (first, second) => {
        const { value, late } = decodeColumns(encodeColumns(['root', first[0] ?? null], [first, second, first]));
        expect(value).toStrictEqual(['root', first[0] ?? null]);
        expect(late.map(itemsOf)).toStrictEqual([first, second, first]);
      }),
    );
    const stamp = { line: 0 };
    const { value, late } = decodeColumns(encodeColumns(stamp, [[{ stamp }], [{ stamp }]]));
    for (const list of late) expect((list.item(0) as { stamp: unknown }).stamp).toBe(value);
  });

  test('of many alike are a fraction of their JSON', () => {
    const stamp = { line: 0, revision: '5' };
    const rows = Array.from({ length: 1_000 }, (_, i) => ({
      name: `c${String(i)}`,
      stamp,
      at: 1.5e12 + i,
      fault: null,
    }));
    expect(encodeColumns(rows).length).toBeLessThan(JSON.stringify(rows).length / 3);
    const back = decodeColumns(encodeColumns(rows)).value as typeof rows;
    expect(back[0]?.stamp).toBe(back[999]?.stamp);
  });

  test.each([[undefined], [NaN], [-0], [1n], [() => 1], [Symbol('x')], ['\ud800'], [JSON.parse('{"__proto__":1}')]])(
    'refuse what is not plain data: %s',
    (value) => {
      expect(() => encodeColumns({ a: [value, 'b'] })).toThrow(TypeError);
    },
  );
});

describe('a late map', () => {
  type Value = { readonly at: number };
  type Step = (map: Map<string, Value>) => unknown;
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const step: fc.Arbitrary<Step> = fc.oneof(
    key.map(
      (name): Step =>
        (map) =>
          map.get(name),
    ),
    key.map(
      (name): Step =>
        (map) =>
          map.has(name),
    ),
    key.map(
      (name): Step =>
        (map) =>
          map.delete(name),
    ),
    fc.tuple(key, fc.nat()).map(([name, at]): Step => (map) => [...map.set(name, { at })]),
    // Set, and nothing looked at.
    fc.tuple(key, fc.nat()).map(
      ([name, at]): Step =>
        (map) =>
          void map.set(name, { at }),
    ),
    fc.constantFrom<Step>(
      (map) => map.size,
      (map) => [...map.keys()],
      (map) => [...map.values()],
      (map) => [...map.entries()],
      (map) => {
        const seen: unknown[] = [];
        map.forEach((value, name, of) => seen.push(value, name, of === map));
        return seen;
      },
      (map) => {
        map.clear();
      },
    ),
  );

  test('is to its holder the map that it stands for, whatever is done with it', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key), fc.array(step, { maxLength: 12 }), (keys, steps) => {
        const values = keys.map((_, at): Value => ({ at }));
        const late = new LateMap<Value>(listOf(keys), listOf(values));
        const map = new Map(keys.map((name, at) => [name, values[at]!]));
        for (const take of steps) expect(take(late)).toEqual(take(map));
        expect([...late]).toEqual([...map]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('reads a value once, when it is asked for', () => {
    const asked: number[] = [];
    const list: LateList = { length: 3, item: (index) => (asked.push(index), { at: index }) };
    const late = new LateMap<Value>(listOf(['a', 'b', 'c']), list);
    expect([...late.present()]).toEqual([]);
    expect(late.get('b')).toBe(late.get('b'));
    expect([late.size, late.has('a'), [...late.present()]]).toEqual([3, true, [{ at: 1 }]]);
    expect(asked).toEqual([1]);
    expect([...late.values(), ...late.values()]).toHaveLength(6);
    expect(asked).toEqual([1, 0, 2]);
  });

  test('has a value for each key', () => {
    expect(() => new LateMap(listOf(['a']), listOf([]))).toThrow(RangeError);
  });

  const listOf = (items: readonly unknown[]): LateList => ({ length: items.length, item: (index) => items[index] });
});
