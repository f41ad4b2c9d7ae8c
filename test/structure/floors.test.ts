import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './syntax.ts';

/**
 * Below these versions stand published advisories that concern us; of two, the lower is the fix in an older major. The public
 * audit endpoint is not asked: this table is.
 */
const floors: Readonly<Record<string, readonly string[]>> = {
  '@grpc/grpc-js': ['1.14.4'],
  '@hono/node-server': ['2.1.7'],
  ajv: ['6.14.0', '8.18.0'],
  amqplib: ['2.3.0'],
  fastify: ['5.12.1'],
  hono: ['4.13.11'],
  kysely: ['0.28.17'],
  protobufjs: ['7.5.6'],
  'tree-kill': ['1.2.2'],
  undici: ['7.28.0'],
  ws: ['8.21.1'],
};

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
}
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

function below(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split(/[.-]/).map(Number)) as [number[], number[]];
  const at = b.findIndex((part, index) => part !== a[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

const major = (version: string): string => version.split('.')[0] ?? '';

/** A version stands if it reaches the newest floor, or the floor of its own major. */
function unsafe(version: string, known: readonly string[]): boolean {
  return !known.some((floor) => !below(version, floor) && (floor === known.at(-1) || major(floor) === major(version)));
}

test('no installed version lies below a known security floor, at any depth of the tree', () => {
  const low = installed.filter(([path, { version }]) => unsafe(version, floors[nameOf(path)] ?? ['0']));
  expect(low.map(([path, { version }]) => `${path} ${version} < ${String(floors[nameOf(path)])}`)).toEqual([]);
  expect(['6.13.9', '6.15.0', '7.0.0', '8.18.0'].map((version) => unsafe(version, floors['ajv'] ?? []))).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test.each([
  ['8.21.0', '8.21.1', true],
  ['8.21.1', '8.21.1', false],
  ['8.9.9', '8.21.1', true],
  ['9.0.0', '8.21.1', false],
  ['0.28.19', '0.28.17', false],
])('%s below %s is %s', (version, floor, expected) => {
  expect(below(version, floor)).toBe(expected);
});

test('the lock names no registry host and pins every package by content', () => {
  expect(installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
});
