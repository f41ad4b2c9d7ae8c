import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L10: L9 holds with every hint lost, given the poll', async () => {
  const been = await holds('L10', { calm: true, hints: false });
  expect(been.missed('published', 'withdrawn', 'wish ended')).toEqual([]);
});
