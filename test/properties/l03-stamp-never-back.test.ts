import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L3: a shown stamp never goes back, line included', async () => {
  const been = await holds('L3', {
    always: ['reply-lagging', 'server-restored', 'server-restored-unsaid', 'version-back'],
  });
  expect(been.missed('published', 'reply-lagging', 'server-restored', 'server-restored-unsaid')).toEqual([]);
  expect(been.missed('version-back')).toEqual([]);
});
