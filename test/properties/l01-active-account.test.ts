import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test("L1: only the active account's routes are published", async () => {
  const been = await holds('L1', { always: ['switch-in-open', 'switch-there-and-back', 'signed-out'] });
  expect(been.missed('published', 'withdrawn', 'switch-in-open', 'switch-there-and-back', 'signed-out')).toEqual([]);
});
