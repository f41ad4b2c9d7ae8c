import { expect, test } from 'vitest';
import { optionsOf, run, runTwice } from '../../src/simulate/index.ts';
import { stateHash } from '../../src/reconcile/index.ts';
import { docsPublished } from '../support/scenario.ts';
import { digestIn, holds } from '../support/worlds.ts';

test('L13: the same log gives the same state hash and table as the live engine had', async () => {
  const been = await holds('L13', { always: ['crash-after-write', 'sleep', 'clock-back'] });
  expect(been.missed('published', 'crash-after-write', 'sleep', 'clock-back')).toEqual([]);
});

test('L13: two runs of one seed are equal to the byte', async () => {
  for (let seed = 1; seed <= 20; seed++)
    expect((await runTwice(optionsOf(seed))).violations.filter(({ law }) => law === 'L13')).toEqual([]);
});

test('L13: one seed ends in one digest in every time zone and language', { timeout: 120_000 }, async () => {
  const here = (await run(optionsOf(7))).digest;
  const there = await Promise.all(
    ['Asia/Kathmandu', 'Pacific/Apia'].map((TZ) => digestIn({ TZ, LC_ALL: 'tr_TR.UTF-8' })),
  );
  expect(there).toEqual([here, here]);
});

test('L13: the state hash tells apart what differs in one record, whatever it is a record of', () => {
  const { state } = docsPublished();
  const before = stateHash(state);
  const maps: readonly Map<string, object>[] = [state.accounts, state.connectors, ...state.routes.values()];
  for (const map of maps)
    for (const [key, record] of [...map]) {
      map.set(key, { ...record, since: -1, boot: -1 });
      expect(stateHash(state), key).not.toBe(before);
      map.set(key, record);
    }
  expect(stateHash(state)).toBe(before);
});
