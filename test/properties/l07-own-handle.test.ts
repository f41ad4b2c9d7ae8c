import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L7: a handle of one epoch or generation is never published under another', async () => {
  const been = await holds('L7', {
    always: ['open-unstoppable', 'open-late', 'same-account-anew', 'release-there-and-back'],
  });
  expect(been.missed('published', 'open-unstoppable', 'open-late', 'same-account-anew')).toEqual([]);
  expect(been.missed('release-there-and-back', 'child-died')).toEqual([]);
});
