/** Every mutant still fits the code: one whose text has moved would be tried by nobody, and nobody would notice. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutate } from '../../scripts/mutants.ts';
import { mutants } from '../../scripts/mutantsOfCore.ts';
import { logMutants } from '../../scripts/mutantsOfLog.ts';
import { wireMutants } from '../../scripts/mutantsOfWire.ts';
import { foundIn, TABLE, tableWith } from '../../scripts/mutantsTable.ts';

const all = [...mutants, ...logMutants, ...wireMutants];

test('the text of every mutant stands exactly once in its file, and changes it', () => {
  for (const mutant of all) {
    const text = readFileSync(`src/${mutant.file}`, 'utf8');
    expect(mutate(text, mutant)).not.toBe(text);
  }
  expect(() => mutate('a a', { ...wireMutants[0]!, find: 'a' })).toThrow(RangeError);
});

test('no two have one name, and the tests that those of log and wire name are there', () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  const tests = [...logMutants, ...wireMutants].flatMap((mutant) => mutant.tests);
  for (const file of tests) expect(existsSync(`test/${file}`), file).toBe(true);
  for (const list of [logMutants, wireMutants]) expect(list.length).toBeGreaterThanOrEqual(20);
});

test('the page has a row for each mutant and none besides, and every one of core and log was killed when it was last tried', () => {
  const page = readFileSync(TABLE, 'utf8');
  expect(tableWith(page, new Map())).toBe(page);
  const found = foundIn(page);
  for (const { name } of mutants)
    expect(found.get(name), name).toMatch(/^(prove in \d+ steps|seed \d+ at event|L\d+: )/);
  for (const { name } of logMutants) expect(found.get(name), name).not.toMatch(/^(not tried yet|SURVIVED)/);
});
