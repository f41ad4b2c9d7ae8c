import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L8: withdraw before the disk, publish after it, and only the intersection while the log is away', async () => {
  const been = await holds('L8', { always: ['disk-full', 'disk-error', 'crash-after-withdraw', 'crash-after-write'] });
  expect(been.missed('published', 'withdrawn', 'disk-full', 'disk-error')).toEqual([]);
  expect(been.missed('crash-after-withdraw', 'crash-after-write')).toEqual([]);
});
