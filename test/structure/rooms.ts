/**
 * The rooms of the house as data: who may import whom, and which packages. The text of it is docs/ARCHITECTURE.md; this is what
 * holds. Paths are relative to src/. A room that is not here, or a file in no room, fails the test.
 */

export interface Room {
  /** Rooms whose files this room may import. Its own are always allowed. */
  readonly rooms: readonly string[];
  /** Packages of node_modules, by name or by scope (`@bufbuild/`). */
  readonly packages: readonly string[];
  /** Modules of Node itself, without `node:`. `any` for the rooms at the edge. */
  readonly node: readonly string[] | 'any';
}

const mcp = '@modelcontextprotocol/';

export const rooms: Readonly<Record<string, Room>> = {
  events: { rooms: [], packages: ['zod', 'nanoid'], node: ['crypto'] },
  machines: { rooms: ['events'], packages: ['xstate'], node: [] },
  reconcile: { rooms: ['events', 'machines'], packages: [], node: ['crypto'] },
  protocol: {
    rooms: [],
    packages: ['eventsource-parser', '@bufbuild/', 'zod'],
    node: ['crypto', 'buffer'],
  },
  host: {
    rooms: ['events', 'reconcile', 'protocol'],
    packages: ['ws', 'rxjs', 'undici', 'hono', '@hono/', mcp, 'nanoid', 'zod', 'yaml', 'jsonc-parser', 'smol-toml'],
    node: 'any',
  },
  gateway: {
    rooms: ['protocol'],
    packages: ['undici', 'hono', '@hono/', '@grpc/', '@bufbuild/', 'ajv', 'nanoid', 'zod', mcp],
    node: 'any',
  },
  authority: {
    rooms: ['protocol'],
    packages: [
      ...[
        'kysely',
        'better-sqlite3',
        'pg',
        'jose',
        '@grpc/',
        '@bufbuild/',
        'ws',
        'hono',
        '@hono/',
        'undici',
        'amqplib',
      ],
      ...['nanoid', 'zod'],
    ],
    node: 'any',
  },
  replay: { rooms: ['events', 'machines', 'reconcile'], packages: [], node: ['crypto'] },
  simulate: { rooms: ['events', 'machines', 'reconcile', 'replay'], packages: [], node: ['crypto'] },
  viewer: { rooms: ['replay', 'machines'], packages: ['hono', '@hono/', 'preact', '@preact/', 'uplot'], node: 'any' },
  demo: { rooms: ['protocol'], packages: [mcp, 'undici'], node: 'any' },
  cli: {
    rooms: [
      ...['events', 'machines', 'reconcile', 'protocol', 'host', 'gateway', 'authority'],
      ...['replay', 'simulate', 'viewer', 'demo', 'index.ts'],
    ],
    packages: ['commander', 'pino', 'yaml', 'zod', 'undici'],
    node: 'any',
  },
  'index.ts': { rooms: ['events', 'machines', 'reconcile', 'replay'], packages: [], node: [] },
};

export interface Exception {
  readonly packages?: readonly string[];
  readonly node?: 'any';
  /** May import what it finds at run time. */
  readonly computed?: true;
}

/** What single files may import beyond their room. A path that ends in `*` stands for every file that begins so. */
export const exceptions: Readonly<Record<string, Exception>> = {
  'events/sqlite*': { packages: ['kysely', 'better-sqlite3'], node: 'any' },
  'events/lock.ts': { packages: ['better-sqlite3'] },
  'events/storeFile.ts': { node: 'any' },
  'events/lines.ts': { node: 'any' },
  'events/systemEdge.ts': { node: 'any' },
  'events/postgres*': { packages: ['kysely', 'pg'], node: 'any' },
  'reconcile/engine.ts': { packages: ['rxjs'] },
  // The public demo servers are optional: where one is installed is found when it is wanted.
  'demo/everything.ts': { computed: true },
};

/** What `files` a list of paths, folders (`machines/`) and beginnings (`events/sqlite*`) means. */
export function matches(pattern: string, file: string): boolean {
  if (pattern.endsWith('*')) return file.startsWith(pattern.slice(0, -1));
  return pattern.endsWith('/') ? file.startsWith(pattern) : file === pattern;
}

/** Files without any sense of the outside: no clock, chance, timer, process, network, nor anything that finishes later. */
export const pure: { readonly files: readonly string[]; readonly except: readonly string[] } = {
  files: [
    ...['events/uint64.ts', 'events/stamp.ts', 'events/catalogue.ts', 'events/chain.ts', 'events/upcast.ts'],
    ...['machines/', 'reconcile/', 'replay/', 'authority/decide.ts'],
  ],
  except: ['reconcile/engine.ts', 'reconcile/performing.ts'],
};

/** Files that may finish later, but get clock, chance and timers from a port: what makes replay and simulation the same code. */
export const clockless: { readonly files: readonly string[]; readonly except: readonly string[] } = {
  files: ['reconcile/engine.ts', 'reconcile/performing.ts', 'simulate/'],
  except: [],
};
