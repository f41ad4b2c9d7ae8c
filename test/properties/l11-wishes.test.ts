import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L11: a wish ends only by a read that could fulfil it, and what is owed is desired without observed', async () => {
  const been = await holds('L11', { always: ['hint-bogus', 'reply-truncated', 'reply-lagging', 'reply-repeated'] });
  expect(been.missed('wish ended', 'hint-bogus', 'reply-truncated', 'reply-lagging', 'reply-repeated')).toEqual([]);
});
