import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L9: once the world is calm, the table is connected, installed, enabled and compatible, and nothing is due', async () => {
  const been = await holds('L9', {
    calm: true,
    runs: 30,
    always: ['drop-answer-lost', 'server-restored', 'server-restored-unsaid', 'version-back'],
  });
  expect(been.missed('published', 'server-restored', 'server-restored-unsaid', 'version-back')).toEqual([]);
  expect(been.missed('line adopted', 'lifted', 'hint-bogus', 'drop-answer-lost')).toEqual([]);
});
