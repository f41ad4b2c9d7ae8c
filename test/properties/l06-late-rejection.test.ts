import { expect, test } from 'vitest';
import { holds } from '../support/worlds.ts';

test('L6: a rejection of another epoch or generation changes nothing', async () => {
  const been = await holds('L6', { always: ['call-rejected-late', 'switch-there-and-back', 'same-account-anew'] });
  expect(been.missed('rejected', 'rejected late', 'call-rejected-late', 'switch-there-and-back')).toEqual([]);
});
