/** The shortest histories in which a world of `simulate` or `prove` once broke a law. Each was a fault of the core. */
import { expect, test } from 'vitest';
import { installedFact } from '../../src/simulate/device.ts';
import { Bench } from '../support/hands.ts';
import { connected, disconnected, docsPublished, MINUTE } from '../support/scenario.ts';

const news = { connector: 'news', kind: 'remote', authorization: 'none', release: 1, enabled: true } as const;

test('signing out an account that was unread for an hour withdraws what needs no authorization too (L1)', async () => {
  const bench = new Bench().signIn('ann');
  bench.engine.accept(installedFact({ ...news, incompatible: false, present: true }));
  await (await bench.read(1, {})).open('news');
  bench.edge.pass(60 * MINUTE);
  expect(bench.published).toEqual(['ann/news']);
  bench.engine.accept({ type: 'account.cleared', data: { epoch: bench.engine.nextEpoch() } });
  expect(bench.published).toEqual([]);
});

test('a version that only a torn reply has told counts as told: the older one is withheld, then released (L9)', () => {
  const s = docsPublished()
    .read(5, { docs: connected(2) })
    .read(6, { docs: connected(1) });
  expect(s.reasonOf('docs')).toBe('regressed');
  s.later(MINUTE)
    .read(6, { docs: connected(1) })
    .later(MINUTE)
    .read(6, { docs: connected(1) });
  expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
});

test('a version that a closed connection has told counts as told, when it is another connection (L9)', () => {
  const s = docsPublished()
    .read(6, { docs: disconnected(3, 'h2') })
    .read(7, { docs: connected(2, 'h2') });
  expect(s.reasonOf('docs')).toBe('regressed');
  s.later(MINUTE)
    .read(7, { docs: connected(2, 'h2') })
    .later(MINUTE)
    .read(7, { docs: connected(2, 'h2') });
  expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
});
