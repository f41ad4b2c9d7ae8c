/** Every mutant still fits the code: one whose text has moved would be tried by nobody, and nobody would notice. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutate } from '../../scripts/mutants.ts';
import { mutants } from '../../scripts/mutantsOfCore.ts';
import { wireMutants } from '../../scripts/mutantsOfWire.ts';
import { foundIn, TABLE, tableWith } from '../../scripts/mutantsTable.ts';

const all = [...mutants, ...wireMutants];

test('the text of every mutant stands exactly once in its file, and changes it', () => {
  for (const mutant of all) {
    const text = readFileSync(`src/${mutant.file}`, 'utf8');
    expect(mutate(text, mutant)).not.toBe(text);
  }
  expect(() => mutate('a a', { ...wireMutants[0]!, find: 'a' })).toThrow(RangeError);
});

test('no two have one name, and the tests that the wire’s name are there', () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { tests } of wireMutants) for (const file of tests) expect(existsSync(`test/${file}`), file).toBe(true);
  expect(wireMutants.length).toBeGreaterThanOrEqual(20);
});

test('the page has a row for each mutant and none besides, and every one of the core was killed when it was last tried', () => {
  const page = readFileSync(TABLE, 'utf8');
  expect(tableWith(page, new Map())).toBe(page);
  const found = foundIn(page);
  for (const { name } of mutants)
    expect(found.get(name), name).toMatch(/^(prove in \d+ steps|seed \d+ at event|L\d+: )/);
});
