/**
 * Every log in this folder replays to the text beside it. An incident becomes a regression test by copying its log here; the first
 * run with `npx vitest run test/transcripts -u` writes the text, and the text is reviewed like a conversation.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogFile } from '../../src/events/index.ts';
import { diff, replay, transcript } from '../../src/replay/index.ts';

const names = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.slice(0, -'.jsonl'.length));
const inFolder = (name: string): string => join(import.meta.dirname, name);

test('the folder is not empty, and every text has its log', () => {
  const texts = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.txt'));
  expect(names.length).toBeGreaterThanOrEqual(8);
  expect(texts.filter((text) => !names.includes(text.slice(0, -'.txt'.length)))).toEqual([]);
});

test.each(names)('%s replays to its transcript', async (name) => {
  const lines = [...transcript(openLogFile(inFolder(`${name}.jsonl`)))];
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(inFolder(`${name}.txt`));
});

test.each(names)('%s was decided as it is today', (name) => {
  const log = openLogFile(inFolder(`${name}.jsonl`));
  expect([replay(log).divergence, diff(log).firstDifference]).toEqual([null, null]);
});
