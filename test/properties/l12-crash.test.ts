import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

const kills = [
  ...(['crash-after-withdraw', 'crash-before-write', 'crash-after-write', 'crash-after-publish'] as const),
  ...(['crash-in-effect', 'crash-in-recovery', 'second-writer'] as const),
];

test('L12: a crash at any point changes nothing but handles, epoch and the count of effects', async () => {
  const been = await holds('L12', { runs: 40, always: kills });
  expect(been.missed('published', ...kills)).toEqual([]);
});

test('L12: whatever was killed in the storm, the same table comes back', async () => {
  const been = await holds('L9', { calm: true, always: kills });
  expect(been.missed('published', 'crash-in-effect')).toEqual([]);
});
