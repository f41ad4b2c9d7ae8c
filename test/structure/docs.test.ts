import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, root } from './syntax.ts';

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...filesBelow('docs', ['.md']).map((page) => `docs/${page}`),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** The anchor a heading gets on the usual hosts: lower case, spaces to hyphens, other punctuation dropped. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
const anchors = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading]) => anchor((heading ?? '').replaceAll('`', '')));

function dead(page: string, link: string): boolean {
  const [path = '', fragment] = link.split('#');
  const target = path === '' ? page : join(dirname(page), decodeURIComponent(path));
  if (!existsSync(join(root, target))) return true;
  return fragment !== undefined && target.endsWith('.md') && !anchors(target).includes(fragment);
}
const linksOf = (page: string): readonly string[] =>
  [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link ?? '')
    .filter((link) => !/^[a-z]+:/.test(link));

test('every link between the pages leads somewhere', () => {
  expect(pages.length).toBeGreaterThan(0);
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => dead(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('every decision has a number of its own', () => {
  const numbers = filesBelow('docs', ['.md']).flatMap((page) => /^decisions\/(\d{4})-/.exec(page)?.[1] ?? []);
  expect(numbers.length).toBeGreaterThan(0);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('no page, source or test names a path of the machine it was written on', () => {
  const texts = [
    ...pages,
    ...['src', 'test', 'scripts'].flatMap((room) => filesBelow(room, ['']).map((f) => `${room}/${f}`)),
  ];
  const own = new RegExp(['work', 'home', 'root', 'Users'].map((top) => `(?<![\\w.])/${top}/[a-z.]`).join('|'));
  expect(texts.filter((page) => own.test(textOf(page)))).toEqual([]);
});
