import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L14: every effect ends in exactly one event, or with the process, and no identity runs twice at once', async () => {
  const been = await holds('L14', { always: ['performer-throws', 'open-hangs', 'close-slow', 'open-unstoppable'] });
  expect(been.missed('published', 'performer-throws', 'open-hangs', 'close-slow', 'open-unstoppable')).toEqual([]);
});
