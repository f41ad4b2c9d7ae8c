import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closedness, joinEntries, uint64, type Entry } from '../../src/events/index.ts';
import { holds } from '../support/worlds.ts';

test('L4: on a tie between two reads the more closed one wins', async () => {
  const been = await holds('L4', { always: ['reply-torn', 'reply-lagging', 'reply-truncated'] });
  expect(been.missed('published', 'reply-torn', 'reply-lagging', 'reply-truncated')).toEqual([]);
});

const entries: fc.Arbitrary<Entry> = fc.record({
  state: fc.constantFrom('connected', 'disconnected', 'reauth_required'),
  connectionVersion: fc.bigInt({ min: 0n, max: 3n }).map(uint64),
  connectionIdHash: fc.constantFrom('h1', 'h2', null),
});

test('L4: the join of two answers does not depend on order or repetition, and opens nothing', () => {
  const check = fc.property(entries, entries, entries, (a, b, c) => {
    expect(joinEntries(a, b)).toEqual(joinEntries(b, a));
    expect(joinEntries(joinEntries(a, b), c)).toEqual(joinEntries(a, joinEntries(b, c)));
    expect(joinEntries(a, a)).toEqual(a);
    expect(closedness[joinEntries(a, b).state]).toBe(Math.max(closedness[a.state], closedness[b.state]));
  });
  fc.assert(check, { seed: 4, numRuns: 500 });
});
