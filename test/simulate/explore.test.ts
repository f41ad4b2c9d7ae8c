/** The exhaustive walk itself: what it would miss, nobody else would see. */
import { expect, test } from 'vitest';
import { Encoder } from '../../src/simulate/explore/encode.ts';
import { movesOf } from '../../src/simulate/explore/moves.ts';
import { Numbers, Seen } from '../../src/simulate/explore/seen.ts';
import type { SmallWorld } from '../../src/simulate/explore/small.ts';
import { Stage } from '../../src/simulate/explore/stage.ts';
import { traceOf } from '../../src/simulate/explore/trace.ts';
import { brokenLaws } from '../../src/simulate/audit.ts';
import { fullWorlds, prove, quickWorlds, shortWorlds } from '../../src/simulate/index.ts';
import { Random } from '../../src/simulate/random.ts';

const hinting = quickWorlds.find(({ name }) => name === 'quick-hinting')!;
const worlds = [...fullWorlds, ...shortWorlds, ...quickWorlds];

test('a small world is explored to its last state, is safe everywhere and converges from everywhere', () => {
  const proof = prove({ worlds: [hinting] });
  expect(proof).toMatchObject({ unsafe: 0, stuck: 0, complete: true, counterExamples: [] });
  expect(proof.states).toBeGreaterThan(150);
  expect(proof.edges).toBeGreaterThan(proof.states);
  expect(prove({ worlds: [hinting] })).toEqual(proof);
});

test('a limit ends the search and is told: what was not explored was not proven', () => {
  expect(prove({ worlds: [fullWorlds[0]!], maxStates: 500 })).toMatchObject({ complete: false, unsafe: 0 });
});

test('the full set has in it everything that a world must have been through', () => {
  const spent = (limit: keyof SmallWorld['budget']): number =>
    Math.max(...fullWorlds.map(({ budget }) => budget[limit] ?? 0));
  expect(
    fullWorlds.some(({ accounts, bound, exempt }) => Object.keys(accounts).length + bound.length + exempt.length > 4),
  ).toBe(true);
  expect(new Set(fullWorlds.filter(({ restores }) => restores.length > 0).map((one) => one.serverEpochs)).size).toBe(2);
  expect(fullWorlds.some(({ depth, hints }) => depth >= 3 && hints)).toBe(true);
  for (const limit of ['switches', 'crashes', 'falseRejections', 'lagging', 'drops', 'torn'] as const)
    expect(spent(limit), limit).toBeGreaterThan(0);
});

/** A way through a world by the seed: the places of its moves. */
function walk(world: SmallWorld, seed: number, visit: (stage: Stage) => void): readonly number[] {
  const [stage, random, way] = [new Stage(world), new Random(seed), [] as number[]];
  for (let step = 0; step < 40; step++) {
    visit(stage);
    const moves = movesOf(stage);
    const place = random.below(moves.length);
    way.push(place);
    stage.apply(moves[place]!);
  }
  return way;
}

/** The hash of the state on the stage, as a text. */
function hashBy(encoder: Encoder): string {
  const lanes = new Uint32Array(2);
  encoder.hash(lanes);
  return lanes.join();
}

test('a state has the same hash whichever neighbour it is reached from, and a move that is taken back leaves nothing', () => {
  const [alone, reached]: [string[], string[]] = [[], []];
  for (const [seed, world] of worlds.entries())
    walk(world, seed, (stage) => {
      const [known, anew] = [new Encoder(stage), new Encoder(stage)];
      const here = hashBy(anew);
      const kept = new Numbers();
      reached.push(hashBy(known));
      alone.push(here);
      known.parts.keep(kept);
      known.parts.from(stage.save(), kept, 0);
      for (const move of movesOf(stage)) {
        stage.apply(move);
        reached.push(hashBy(known), here);
        alone.push(hashBy(anew));
        stage.takeBack();
        alone.push(hashBy(anew));
      }
    });
  expect(reached.length).toBeGreaterThan(2_000);
  expect(reached).toEqual(alone);
});

test('a way through any world is told as a log that keeps every law, and as a test to paste', () => {
  for (const [seed, world] of worlds.entries()) {
    const way = walk(world, seed, () => undefined);
    const { events, steps, transcript, test: text } = traceOf(world, way, { law: 'L9', text: 'a reason' });
    expect(steps).toBe(way.length);
    expect(brokenLaws(events), world.name).toEqual([]);
    expect(transcript).toMatch(/L9: a reason$/);
    expect(text).toMatch(/^test\('L9: a reason', \(\) => {\n {2}const s = new Scenario\(\);/);
  }
});

test('what was met is found again, however many there are', () => {
  const [seen, first, random] = [new Seen(), new Numbers(), new Random(1)];
  // Lanes as a hash has them, each low one with two high ones.
  const pairs = Array.from({ length: 200_000 }, (): [number, number] => [
    random.below(2),
    Math.imul(random.below(100_000), 0x9e3779b1) >>> 0,
  ]);
  const indices = new Map<string, number>();
  const wrong = pairs.filter(([high, low]) => {
    const key = `${String(high)},${String(low)}`;
    const added = seen.add(high, low);
    const known = indices.get(key);
    if (known === undefined) first.push(indices.size);
    indices.set(key, known ?? indices.size);
    return added !== (known ?? -indices.size);
  });
  expect([wrong, seen.size, first.length, first.at(99_999)]).toEqual([[], indices.size, indices.size, 99_999]);
});
