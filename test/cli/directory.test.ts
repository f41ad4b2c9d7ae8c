import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/exit.ts';
import { holdDirectory, readIfThere, turnOver, writePrivate } from '../../src/cli/up/directory.ts';
import { missingLine } from '../../src/cli/up/packages.ts';
import { freePorts } from '../../src/cli/up/ports.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dacapo-dir-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('a state directory is private to its owner, and one process holds it', () => {
  const state = join(folder, 'state');
  const release = holdDirectory(state, []);
  expect(mode(state)).toBe('700');
  expect(() => holdDirectory(state, [])).toThrow(expect.objectContaining({ exit: EXIT.conflict }));
  release();
  holdDirectory(state, [])();
});

test('a path in which no socket can be is refused before anything is made', () => {
  const state = join(folder, 'x'.repeat(100));
  expect(() => holdDirectory(state, ['control.sock'])).toThrow(expect.objectContaining({ exit: EXIT.usage }));
  expect(readdirSync(folder)).toEqual([]);
});

test('a private file is 0600, replaced whole, and leaves no draft', () => {
  const path = join(folder, 'secrets', 'token');
  writePrivate(path, 'one');
  writePrivate(path, 'two');
  expect([readIfThere(path), mode(path), readdirSync(join(folder, 'secrets'))]).toEqual(['two', '600', ['token']]);
  expect(readIfThere(join(folder, 'absent'))).toBeUndefined();
});

test('a log that has grown is put aside once, and a small one is left alone', () => {
  const path = join(folder, 'x.log');
  turnOver(path, 3);
  for (const text of ['one', 'long one', 'longer one']) {
    writePrivate(path, text);
    turnOver(path, 3);
  }
  expect([readIfThere(path), readIfThere(`${path}.1`)]).toEqual([undefined, 'longer one']);
});

test('what of the demo is missing is one npm line', () => {
  expect(missingLine(() => true)).toBeUndefined();
  expect(missingLine((name) => !name.endsWith('memory'))).toBe(
    'for the whole demo: npm install @modelcontextprotocol/server-memory',
  );
});

test('ports are those of the last time where they are free, and never given twice', async () => {
  const first = await freePorts(['a', 'b', 'c'], {});
  expect(new Set(Object.values(first)).size).toBe(3);
  expect(await freePorts(['a', 'b', 'c'], first)).toEqual(first);
  const clash = await freePorts(['a', 'b'], { a: first.a, b: first.a });
  expect(clash.a).toBe(first.a);
  expect(clash.b).not.toBe(first.a);
});
