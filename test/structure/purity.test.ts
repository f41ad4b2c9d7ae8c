import ts from 'typescript';
import { expect, test } from 'vitest';
import { clockless, matches, pure } from './rooms.ts';
import { lineOf, parse, sources, walk, type Source } from './syntax.ts';

/** Names that reach outside when spoken as a free name. */
const outside = new Set([
  ...[
    'Date',
    'performance',
    'Temporal',
    'Intl',
    'process',
    'globalThis',
    'crypto',
    'fetch',
    'WebSocket',
    'EventSource',
  ],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'clearTimeout', 'clearInterval', 'require'],
]);
/** Members that answer differently on another machine, or at another time. */
const members = new Set([
  ...['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues', 'hrtime', 'nextTick'],
  ...['localeCompare', 'toLocaleString', 'toLocaleUpperCase', 'toLocaleLowerCase', 'toLocaleDateString'],
]);
/** Other packages are the layers' business; an id out of the blue is chance. */
const modules = /^node:(?!crypto$|buffer$)|^nanoid/;

const named = (node: ts.Identifier): boolean => {
  const parent = node.parent;
  const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
  const isKey = (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && parent.name === node;
  return !isMember && !isKey;
};

/** `Math` is pure but for one member, so anything else than naming another member of it counts: `const { random } = Math`. */
const isChance = (node: ts.Node): boolean =>
  ts.isIdentifier(node) &&
  node.text === 'Math' &&
  named(node) &&
  !(ts.isPropertyAccessExpression(node.parent) && node.parent.name.text !== 'random');

function impure(node: ts.Node): string | undefined {
  if (isChance(node)) return 'Math.random';
  if (ts.isIdentifier(node) && outside.has(node.text) && named(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) && members.has(node.name.text)) return `.${node.name.text}`;
  if (ts.isImportSpecifier(node) && members.has((node.propertyName ?? node.name).text)) return node.name.text;
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
    return modules.test(node.moduleSpecifier.text) ? node.moduleSpecifier.text : undefined;
  return ts.isMetaProperty(node) ? 'import.meta' : undefined;
}

function later(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AsyncKeyword) return 'async';
  if (node.kind === ts.SyntaxKind.AwaitKeyword || ts.isAwaitExpression(node)) return 'await';
  return ts.isIdentifier(node) && node.text === 'Promise' && named(node) ? 'Promise' : undefined;
}

/** Names that a file gives to something of its own, `fetch` of a snapshot under way say: they are not the ones outside. */
function ownNames(source: Source): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source.tree, (node) => {
    const declares = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node);
    if (declares && ts.isIdentifier(node.name)) names.add(node.name.text);
  });
  return names;
}

function offences(source: Source, find: (node: ts.Node) => string | undefined): readonly string[] {
  const found: string[] = [];
  const own = ownNames(source);
  walk(source.tree, (node) => {
    const word = find(node);
    if (word !== undefined && !own.has(word))
      found.push(`src/${source.file}:${lineOf(source, node)} speaks of ${word}`);
  });
  return found;
}

const listed = (list: typeof pure): readonly Source[] =>
  sources().filter(
    ({ file }) =>
      list.files.some((pattern) => matches(pattern, file)) && !list.except.some((pattern) => matches(pattern, file)),
  );
const both = (node: ts.Node): string | undefined => impure(node) ?? later(node);

test('pure files know no clock, chance, timer, process, network or anything that finishes later', () => {
  expect(listed(pure).length).toBeGreaterThan(0);
  expect(listed(pure).flatMap((source) => offences(source, both))).toEqual([]);
});

test('the engine and the simulator get clock, chance and timers from a port', () => {
  expect(listed(clockless).flatMap((source) => offences(source, impure))).toEqual([]);
});

test.each([
  ['const t = Date.now();', 'Date'],
  ['const t = new Date(0);', 'Date'],
  ['const r = Math.random();', 'Math.random'],
  ['const { random } = Math;', 'Math.random'],
  ['setTimeout(() => {}, 1);', 'setTimeout'],
  ['const p = process.env;', 'process'],
  ["import { readFileSync } from 'node:fs';", 'node:fs'],
  ["import { randomUUID } from 'node:crypto';", 'randomUUID'],
  ['const f = async (): Promise<void> => {};', 'async'],
  ['const f = (x: Promise<void>): void => {};', 'Promise'],
  ['for await (const x of y) z(x);', 'await'],
  ['names.sort((a, b) => a.localeCompare(b));', '.localeCompare'],
])('a planted %s is caught', (text, word) => {
  expect(offences(parse('reconcile/planted.ts', text), both).join()).toContain(word);
});

test('a value of its own that is called like something outside is no offence', () => {
  expect(offences(parse('reconcile/planted.ts', 'for (const fetch of fetches) take(fetch);'), both)).toEqual([]);
  expect(offences(parse('reconcile/planted.ts', 'for (const x of fetches) take(fetch);'), both)).toHaveLength(1);
});

test('a field that is merely called like a clock is no offence', () => {
  const text =
    'interface X { readonly process: string; Date: number }\nexport const x = (y: X) => ({ fetch: y.process, draw: y.random(), top: Math.max(1, 2) });';
  expect(offences(parse('reconcile/planted.ts', text), both)).toEqual([]);
});
