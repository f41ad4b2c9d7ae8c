import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exceptions, matches, rooms, type Room } from './rooms.ts';
import { importsOf, parse, resolveWithin, root, sources, type Source } from './syntax.ts';

const roomOf = (file: string): string => file.split('/')[0] ?? file;

interface Allowed extends Room {
  readonly computed: boolean;
}

/** The room's allowances with those of the file added. */
function allowed(file: string): Allowed | undefined {
  const room = rooms[roomOf(file)];
  if (room === undefined) return undefined;
  const own = Object.entries(exceptions).filter(([pattern]) => matches(pattern, file));
  return {
    rooms: room.rooms,
    packages: [...room.packages, ...own.flatMap(([, more]) => more.packages ?? [])],
    node: own.some(([, more]) => more.node === 'any') ? 'any' : room.node,
    computed: own.some(([, more]) => more.computed === true),
  };
}

/** What is wrong with one import, in words that name what would be allowed; undefined when nothing is. */
function wrong(file: string, specifier: string | null, may: Allowed): string | undefined {
  if (specifier === null) return may.computed ? undefined : 'a computed import: name the module';
  const inside = resolveWithin(file, specifier);
  if (inside !== undefined) return wrongInside(file, inside, may);
  if (isBuiltin(specifier)) return wrongBuiltin(specifier, may);
  const fits = may.packages.some((name) => specifier === name || specifier.startsWith(name.replace(/\/?$/, '/')));
  return fits ? undefined : `package ${specifier} (allowed: ${may.packages.join(', ') || 'none'})`;
}

function wrongInside(file: string, target: string, may: Allowed): string | undefined {
  if (target.startsWith('../')) return `${target} is outside src`;
  const room = roomOf(target);
  const fits = room === roomOf(file) || may.rooms.includes(room);
  return fits ? undefined : `room ${room} (allowed: ${may.rooms.join(', ') || 'none'})`;
}

function wrongBuiltin(specifier: string, may: Allowed): string | undefined {
  if (!specifier.startsWith('node:')) return `${specifier} without node:`;
  const fits = may.node === 'any' || may.node.includes(specifier.slice('node:'.length));
  return fits ? undefined : `${specifier} (allowed: ${may.node.length === 0 ? 'none' : String(may.node)})`;
}

function offenders(files: readonly Source[]): readonly string[] {
  return files.flatMap((source) => {
    const may = allowed(source.file);
    if (may === undefined) return [`src/${source.file} stands in no room of test/structure/rooms.ts`];
    return importsOf(source).flatMap(({ specifier, line }) => {
      const reason = wrong(source.file, specifier, may);
      return reason === undefined ? [] : [`src/${source.file}:${line} imports ${reason}`];
    });
  });
}

test('every file stands in a room and imports only what its room may', () => {
  expect(sources().length).toBeGreaterThan(0);
  expect(offenders(sources())).toEqual([]);
});

test('every room that a room may import is itself a room, and none imports in a circle', () => {
  const reaches = (from: string, seen: readonly string[] = []): readonly string[] =>
    seen.includes(from) ? [from] : (rooms[from]?.rooms ?? ['?']).flatMap((to) => reaches(to, [...seen, from]));
  for (const room of Object.keys(rooms)) expect(reaches(room), room).toEqual([]);
});

test('every package that a room may import is declared', () => {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const declared = JSON.parse(text) as Record<string, Readonly<Record<string, string>> | undefined>;
  const names = ['dependencies', 'peerDependencies'].flatMap((kind) => Object.keys(declared[kind] ?? {}));
  const used = new Set(
    sources()
      .flatMap(importsOf)
      .flatMap(({ specifier }) => specifier ?? []),
  );
  for (const name of [...used].filter((one) => !one.startsWith('.') && !isBuiltin(one)))
    expect(
      names.some((known) => name === known || name.startsWith(`${known}/`)),
      name,
    ).toBe(true);
});

const planted: readonly (readonly [string, string, string])[] = [
  ['reconcile/evolve.ts', "import { x } from '../protocol/mcp.ts';", 'room protocol'],
  ['host/index.ts', "import type { X } from '../gateway/index.ts';", 'room gateway'],
  ['gateway/index.ts', "export * from '../authority/decide.ts';", 'room authority'],
  ['events/catalogue.ts', "import { Kysely } from 'kysely';", 'package kysely'],
  ['reconcile/project.ts', "import { Subject } from 'rxjs';", 'package rxjs'],
  ['protocol/mcp.ts', "const net = await import('node:net');", 'node:net'],
  ['machines/route.ts', "type Log = import('../reconcile/state.ts').State;", 'room reconcile'],
  ['host/index.ts', 'const x = await import(name);', 'a computed import'],
  ['cellar/index.ts', '', 'stands in no room'],
  ['stray.ts', '', 'stands in no room'],
];
test.each(planted)('an import planted in %s is caught: %s', (file, text, reason) => {
  expect(offenders([parse(file, text)]).join()).toContain(reason);
});

const welcome: readonly (readonly [string, string])[] = [
  ['reconcile/engine.ts', "import { Subject } from 'rxjs';"],
  ['events/sqlite.ts', "import Database from 'better-sqlite3';"],
  ['gateway/index.ts', "import { create } from '@bufbuild/protobuf';"],
  ['host/index.ts', "import { openReconciler } from '../reconcile/index.ts';"],
];
test.each(welcome)('an import that belongs in %s is let through: %s', (file, text) => {
  expect(offenders([parse(file, text)])).toEqual([]);
});

/** Packages that are loaded together with a file, whatever it then does. */
function loadedWith(file: string, seen: Set<string> = new Set()): readonly string[] {
  const source = sources().find((one) => one.file === file);
  if (source === undefined || seen.has(file)) return [];
  seen.add(file);
  return importsOf(source)
    .filter(({ eager }) => eager)
    .flatMap(({ specifier }) => {
      const inside = resolveWithin(file, specifier ?? '');
      return inside === undefined ? [specifier ?? ''] : loadedWith(inside, seen);
    })
    .filter((name) => !isBuiltin(name));
}

test('the help of the command line costs commander and nothing else', () => {
  expect([...new Set(loadedWith('cli/main.ts'))]).toEqual(['commander']);
});

test('what a daemon embeds loads no database, no network and no server', () => {
  expect([...new Set(loadedWith('index.ts'))].sort()).toEqual(['nanoid', 'rxjs', 'xstate', 'zod']);
});
