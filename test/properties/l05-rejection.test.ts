import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L5: a rejection withdraws in the same turn, and is lifted only by a later read that says connected', async () => {
  const been = await holds('L5', {
    always: ['call-rejected', 'call-rejected-falsely', 'open-rejected', 'open-unstoppable'],
  });
  expect(been.missed('rejected', 'lifted', 'call-rejected', 'call-rejected-falsely', 'open-rejected')).toEqual([]);
});
