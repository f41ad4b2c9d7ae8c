/** The page of the laws says what is: each law once, with a place in the code, a test of its own and a bug that the test notices. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from '../../scripts/mutantsOfCore.ts';
import { lawNames } from '../../src/simulate/index.ts';
import { root } from './syntax.ts';

const page = readFileSync(join(root, 'docs/LAWS.md'), 'utf8');
/** Each bullet with the lines below it, by law. */
const sections = new Map(
  [...page.matchAll(/^- \*\*(L\d+)\*\* ([^]*?)(?=\n\n|\n- |$(?![^]))/gm)].map(([, law = '', text = '']) => [law, text]),
);
const claim = (law: string): readonly string[] =>
  /\*Kept by\* `(.+?)`, \*test\* `(.+?)`, \*mutant\* `(.+?)`\./.exec(sections.get(law) ?? '')?.slice(1) ?? [];
const files = readdirSync(join(root, 'test/properties'));

test('the laws are those of the code, each once', () => {
  expect([...sections.keys()].sort()).toEqual([...lawNames].sort());
  expect([...page.matchAll(/^- \*\*L/gm)]).toHaveLength(lawNames.length);
});

test.each(lawNames.map((law) => [law]))('%s says why, and names its place, its test and a mutant of it', (law) => {
  expect(sections.get(law)).toMatch(/\*Why\*: \S/);
  const [place = '', file = '', mutant = ''] = claim(law);
  expect(existsSync(join(root, 'src', place)), place).toBe(true);
  expect(files.filter((name) => name.startsWith(`l${law.slice(1).padStart(2, '0')}-`))).toEqual([`${file}.test.ts`]);
  expect(mutants.filter(({ name }) => name === mutant).map((found) => found.law)).toEqual([law]);
});

test('every property file is that of a law, and bears its name in each test', () => {
  for (const file of files) {
    const law = /^l(\d\d)-[a-z-]+\.test\.ts$/.exec(file)?.[1];
    expect(lawNames).toContain(`L${String(Number(law))}`);
    const titles = [...readFileSync(join(root, 'test/properties', file), 'utf8').matchAll(/^test\(\s*['"`](.*)/gm)];
    expect(titles.length).toBeGreaterThan(0);
    for (const [, title] of titles) expect(title, file).toMatch(new RegExp(`^L${String(Number(law))}: `));
  }
});
