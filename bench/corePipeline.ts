/**
 * The engine, fed with facts in batches of 100: evolve, withdraw, append (chain, id index, FULL), publish, and what is owed. Against
 * better-sqlite3 alone, which inserts the same rows into the same tables in the same batches: once from rows that lie ready, and once
 * with the JSON of each payload written first, which whoever stores events has to do.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openSqliteLog, type Edge, type Fact } from '../src/events/index.ts';
import { openReconciler } from '../src/reconcile/index.ts';
import { measure, median, perItemUs, round, ROUNDS, type Cost } from './measure.ts';
import { workload } from './workload.ts';

const EVENTS = Number(process.env['BENCH_PIPELINE'] ?? 20_000);
const BATCH = 100;
/** Position of the payload in a row. */
const PAYLOAD = 9;

/** Time and ids come from the events themselves: one call of each for each fact. */
function edgeOf(instants: readonly number[]): Edge {
  let id = 0;
  let at = 0;
  return {
    now: () => instants[Math.min(at, instants.length - 1)] as number,
    newId: () => {
      at = id++;
      return `event-${String(id).padStart(12, '0')}`;
    },
    wake: () => () => undefined,
  };
}

async function engineRound(facts: readonly Fact[], instants: readonly number[], path: string): Promise<Cost> {
  const log = await openSqliteLog(path);
  const perform = (): Promise<Fact> => new Promise<never>(() => undefined);
  // The workload's own start is left out: the engine records one.
  const engine = openReconciler({ log, perform, edge: edgeOf(instants), package: '0.1.0', boot: 'boot' });
  const cost = measure(() => {
    for (let from = 0; from < facts.length; from += BATCH) engine.accept(facts.slice(from, from + BATCH));
  });
  await engine.close();
  log.close();
  return cost;
}

interface Source {
  readonly rows: readonly unknown[][];
  readonly schema: readonly string[];
}

/** The rows that the engine wrote, and the tables that hold them. */
function sourceOf(path: string): Source {
  const db = new Database(path, { readonly: true });
  const rows = db.prepare('select * from events order by position').raw().all() as unknown[][];
  const tables = db.prepare("select sql from sqlite_master where tbl_name = 'events' and sql is not null");
  const schema = (tables.all() as { sql: string }[]).map(({ sql }) => sql);
  db.close();
  return { rows, schema };
}

function rawRound({ rows, schema }: Source, path: string, payloads?: readonly unknown[]): Cost {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  for (const sql of schema) db.exec(sql);
  const insert = db.prepare(`insert into events values (${(rows[0] ?? []).map(() => '?').join(',')})`);
  const write = db.transaction((from: number) => {
    for (let at = from; at < Math.min(from + BATCH, rows.length); at++) {
      const row = rows[at] as unknown[];
      if (payloads === undefined) insert.run(...row);
      else insert.run(...row.slice(0, PAYLOAD), JSON.stringify(payloads[at]));
    }
  });
  const cost = measure(() => {
    for (let from = 0; from < rows.length; from += BATCH) write.immediate(from);
  });
  db.close();
  return cost;
}

export async function pipelineBench(folder: string): Promise<object> {
  const events = [...workload(EVENTS)];
  const instants = events.map(({ at }) => at);
  const facts = events.slice(1).map(({ type, data }) => ({ type, data }) as Fact);
  await engineRound(facts, instants, join(folder, 'engine-0.db'));
  const source = sourceOf(join(folder, 'engine-0.db'));
  const payloads = source.rows.map((row) => JSON.parse(row[PAYLOAD] as string) as unknown);
  const [ours, raw, rawJson]: [Cost[], Cost[], Cost[]] = [[], [], []];
  for (let n = 0; n <= ROUNDS; n++) {
    raw.push(rawRound(source, join(folder, `raw-${String(n)}.db`)));
    rawJson.push(rawRound(source, join(folder, `raw-json-${String(n)}.db`), payloads));
    ours.push(await engineRound(facts, instants, join(folder, `engine-${String(n + 1)}.db`)));
  }
  // The first round warms up.
  const [engineCost, rawCost, jsonCost] = [ours, raw, rawJson].map((costs) => median(costs.slice(1))) as [
    Cost,
    Cost,
    Cost,
  ];
  return {
    events: EVENTS,
    logged: source.rows.length,
    batch: BATCH,
    rowBytes: round(source.rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0) / source.rows.length, 0),
    rawUs: perItemUs(rawCost, source.rows.length),
    rawWithJsonUs: perItemUs(jsonCost, source.rows.length),
    engineUs: perItemUs(engineCost, source.rows.length),
    ofRawByCpu: round(rawCost.cpuMs / engineCost.cpuMs),
    ofRawWithJsonByCpu: round(jsonCost.cpuMs / engineCost.cpuMs),
    ofRawByWall: round(rawCost.wallMs / engineCost.wallMs),
  };
}
