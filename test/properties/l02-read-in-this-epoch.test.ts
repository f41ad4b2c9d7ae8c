import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L2: nothing account-bound is published before a read of this epoch has spoken about that connector', async () => {
  const been = await holds('L2', {
    always: ['reply-old-epoch', 'switch-in-fetch', 'crash-in-effect', 'reply-truncated'],
  });
  expect(been.missed('published', 'reply-old-epoch', 'switch-in-fetch', 'crash-in-effect', 'reply-truncated')).toEqual(
    [],
  );
});
