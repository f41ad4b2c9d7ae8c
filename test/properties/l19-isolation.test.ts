import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L19: one connector that never answers delays or hides no other', async () => {
  const been = await holds('L19', { calm: true, stuck: 'mail' });
  expect(been.missed('published', 'withdrawn', 'open-hangs')).toEqual([]);
});
