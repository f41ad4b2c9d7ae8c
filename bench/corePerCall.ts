/**
 * One event a call, each synced before it is acknowledged (FULL): better-sqlite3 alone, our log, our engine, and emmett-sqlite where
 * somebody has installed it: `BENCH_EMMETT=<folder with its node_modules>`. It is no dependency: it needs a driver of its own that is
 * compiled for minutes, for one number.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { openSqliteLog, systemEdge, uint64, type Fact } from '../src/events/index.ts';
import { openReconciler } from '../src/reconcile/index.ts';
import { median, round, ROUNDS, type Cost } from './measure.ts';

/** So many that a round is not mostly the compiling of what it runs: with a third of them the engine costs half as much again. */
const CALLS = Number(process.env['BENCH_CALLS'] ?? 1_500);
const { BENCH_EMMETT: emmett } = process.env;

const hint = (revision: number): Fact => ({
  type: 'hint.received',
  data: { account: 'ann', revision: uint64(revision), connector: 'docs', incarnation: 'i1', count: 1 },
});

type Call = (index: number) => unknown;
interface Store {
  readonly call: Call;
  readonly close: () => unknown;
}

const openers: Readonly<Record<string, (path: string) => Promise<Store>>> = {
  raw: (path) => {
    const db = new Database(path);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.exec('create table events (position integer primary key, id text not null unique, at integer, type integer, payload text) strict'); // prettier-ignore
    const insert = db.prepare('insert into events values (null, ?, ?, ?, ?)');
    const call: Call = (index) => insert.run(`event-${String(index)}`, index, 1, JSON.stringify(hint(index).data));
    return Promise.resolve({ call, close: () => db.close() });
  },
  log: async (path) => {
    const log = await openSqliteLog(path);
    const call: Call = (index) =>
      log.append([{ ...hint(index), id: `event-${String(index)}`, at: index, cause: null }]);
    return { call, close: () => log.close() };
  },
  engine: async (path) => {
    const log = await openSqliteLog(path);
    const perform = (): Promise<Fact> => new Promise<never>(() => undefined);
    const engine = openReconciler({ log, perform, edge: systemEdge(), package: '0.1.0', boot: 'boot' });
    engine.accept({ type: 'account.activated', data: { account: 'ann', epoch: engine.nextEpoch() } });
    const close = async (): Promise<void> => {
      await engine.close();
      log.close();
    };
    return { call: (index) => engine.accept(hint(index + 1)), close };
  },
  ...(emmett === undefined ? {} : { emmett: (path: string) => openEmmett(emmett, path) }),
};

interface EmmettStore {
  appendToStream(stream: string, events: readonly object[]): Promise<unknown>;
}

async function openEmmett(folder: string, fileName: string): Promise<Store> {
  const entry = join(folder, 'node_modules/@event-driven-io/emmett-sqlite/dist/index.js');
  const { getSQLiteEventStore } = (await import(pathToFileURL(entry).href)) as {
    getSQLiteEventStore(options: object): EmmettStore;
  };
  const store = getSQLiteEventStore({ fileName, schema: { autoMigration: 'CreateOrUpdate' } });
  return { call: (index) => again(() => store.appendToStream('ann', [hint(index)])), close: () => undefined };
}

/** It throws SQLITE_BUSY now and then, also without anybody else at the file. */
async function again<T>(work: () => Promise<T>, left = 20): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (left === 0) throw error;
    return again(work, left - 1);
  }
}

async function once(open: (path: string) => Promise<Store>, path: string): Promise<Cost> {
  const { call, close } = await open(path);
  await call(0);
  const cpu = process.cpuUsage();
  const wall = performance.now();
  for (let index = 1; index <= CALLS; index++) await call(index);
  const { user, system } = process.cpuUsage(cpu);
  const cost = { cpuMs: (user + system) / 1000, wallMs: performance.now() - wall };
  await close();
  return cost;
}

export async function perCallBench(folder: string): Promise<object> {
  const costs: Record<string, Cost[]> = {};
  for (let n = 0; n <= ROUNDS; n++)
    for (const [name, open] of Object.entries(openers))
      (costs[name] ??= []).push(await once(open, join(folder, `per-call-${name}-${String(n)}.db`)));
  const cpuUs = Object.fromEntries(
    Object.entries(costs).map(([name, all]) => [name, round((median(all.slice(1)).cpuMs * 1_000) / CALLS)]),
  );
  const over = (name: string): number | null =>
    cpuUs[name] === undefined ? null : round(cpuUs[name] / (cpuUs['engine'] as number));
  return { calls: CALLS, cpuUs, ofRawByCpu: over('raw'), emmettOverEngine: over('emmett') };
}
