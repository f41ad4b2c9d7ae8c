import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L15: exempt routes keep their handle through every account event', async () => {
  const been = await holds('L15', {
    always: ['signed-out', 'switch-twice-at-once', 'server-accepted', 'hint-foreign'],
  });
  expect(been.missed('published', 'signed-out', 'switch-twice-at-once', 'server-accepted')).toEqual([]);
  expect(been.missed('rejected', 'hint-foreign')).toEqual([]);
});
