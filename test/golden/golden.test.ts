/** Logs of every released version replay to the hashes they hold, anywhere (law L13). */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openLogFile, RULES } from '../../src/events/index.ts';
import { diff, replay } from '../../src/replay/index.ts';

interface Played {
  readonly played: readonly { readonly events: number; readonly marks: number; readonly hash: string; readonly fromScratch: string }[]; // prettier-ignore
  readonly offsets: readonly number[];
  readonly databases: readonly string[];
}
const zones = ['UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Auckland'];
const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.jsonl'));
const files = names.map((name) => join(import.meta.dirname, name));
const { PATH = '', HOME = '' } = process.env;

async function playIn(zone: string): Promise<Played> {
  const args = ['--import', 'tsx', join(import.meta.dirname, 'play.ts'), ...files];
  const options = {
    env: { PATH, HOME, TZ: zone, LC_ALL: 'tr_TR.UTF-8' },
    timeout: 100_000,
    maxBuffer: 16 * 1024 * 1024,
  };
  return JSON.parse((await promisify(execFile)(process.execPath, args, options)).stdout) as Played;
}

test('there is a golden log, long enough and full of hashes', () => {
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(replay(openLogFile(file)).marks).toBeGreaterThan(10);
});

test('golden logs replay alike in four time zones, without a database', { timeout: 240_000 }, async () => {
  const results: Played[] = [];
  for (const zone of zones) results.push(await playIn(zone));
  expect(new Set(results.map(({ offsets }) => String(offsets))).size).toBe(zones.length);
  expect(results.flatMap(({ databases }) => databases)).toEqual([]);
  for (const { played } of results) expect(played).toEqual(results[0]?.played);
  for (const { hash, fromScratch } of results[0]?.played ?? []) expect(hash).toBe(fromScratch);
});

test.each(names)('%s holds under the rules that wrote it, or is listed as decided otherwise', (name) => {
  const log = openLogFile(join(import.meta.dirname, name));
  const { divergence, differences } = replay(log);
  expect(divergence).toBeNull();
  if (log.header.rules !== RULES) return expect(differences.every(({ binding }) => !binding)).toBe(true);
  expect([differences, diff(log).firstDifference]).toEqual([[], null]);
});
