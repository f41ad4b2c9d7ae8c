/** The page that says what holds the wire names tests; they are there. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { legs } from '../conformance/legs.ts';

const page = readFileSync('docs/CONFORMANCE.md', 'utf8');

/** A test as it is named in the page: a file, and the words that the file has as a title. */
interface Named {
  readonly file: string;
  readonly title: string;
}

function namedIn(text: string): readonly Named[] {
  return [...text.matchAll(/`(test\/[\w./-]+\.test\.ts)` “([^”]+)”/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }));
}

const missing = ({ file, title }: Named): boolean => {
  const source = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return !["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
};

test('every test that the page names exists under that title', () => {
  const named = namedIn(page);
  expect(named.filter(missing)).toEqual([]);
  expect(named.length).toBeGreaterThan(50);
  expect(missing({ file: 'test/protocol/client.test.ts', title: 'is not there' })).toBe(true);
});

test('every sentence and each of the thirty differences names one', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const tables = page.split('\n\n').filter((block) => /^\|.*\| held by \|$/m.test(block));
  const sentences = tables.flatMap((table) => table.trim().split('\n').slice(2));
  expect(sentences.filter((row) => namedIn(row).length === 0)).toEqual([]);
  expect(tables).toHaveLength(6);
  expect(sentences.length).toBeGreaterThanOrEqual(75);
  const numbered = rows.filter((row) => /^\| \d+ \|/.test(row));
  expect(numbered.map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  expect(numbered.every((row) => namedIn(row).length > 0)).toBe(true);
});

test('every leg of the suite is in its table, and every exclusion has a reason', () => {
  for (const leg of legs) {
    expect(page).toContain(`| ${leg.title}, ${leg.revision} |`);
    if (leg.side === 'client') continue;
    const lines = readFileSync(`test/conformance/${leg.expectedFailures}`, 'utf8').split('\n');
    const [first = ''] = lines.slice(lines.indexOf('server:') + 1);
    expect(first).toMatch(/^ {2}# /);
  }
});
