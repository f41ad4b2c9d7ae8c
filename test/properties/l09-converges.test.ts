import { expect, test } from 'vitest';
import { Bench, settled } from '../support/hands.ts';
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

test('L9: work that was given up, and is owed again by then, is begun again although giving up changed nothing', async () => {
  const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1 });
  await settled();
  const { effect, end } = bench.work('openRoute docs');
  for (const enabled of [false, true])
    bench.engine.accept({ type: 'connector.toggled', data: { connector: 'docs', enabled } });
  const { kind: _, ...route } = effect as Extract<typeof effect, { kind: 'openRoute' | 'closeRoute' }>;
  const why = { reason: 'aborted', code: null, detail: null, stamp: null, retryAfterMs: null } as const;
  await end({ type: 'route.openFailed', data: { ...route, ...why } });
  await bench.open('docs');
  expect(bench.published).toEqual(['ann/docs']);
});

test.each([{ mail: null, news: null }, { mail: 1 }, { chat: 1 }, {}])(
  'L9: what a complete reply does not name is gone, whoever else it names: %j',
  async (others) => {
    const bench = await new Bench().install('docs').signIn('ann').read(5, { docs: 1, chat: 1 });
    await bench.open('docs');
    expect(bench.published).toEqual(['ann/docs']);
    bench.engine.accept({ type: 'clock.ticked', data: { reason: 'poll' } });
    await bench.read(6, others);
    expect(bench.published).toEqual([]);
  },
);
