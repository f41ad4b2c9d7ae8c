/**
 * The core, measured as ratios against a named baseline in the same run. Prints one JSON document.
 *
 * - machine: a step of the compiled table against `actor.send` and against the public `transition()` of the same machine.
 * - pipeline: fold + project + owed + append (chain, id index, FULL) against better-sqlite3 inserting the same rows into the same
 *   tables, both in batches of 100.
 * - replay: reading a log back with its chain checked, folding it, and hashing the state at the end.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createActor, transition } from 'xstate';
import { openSqliteLog, openSqliteLogReadOnly, type LoggedEvent } from '../src/events/index.ts';
import { routeMachine, routeTable, type RouteEvidence, type RouteStanding } from '../src/machines/index.ts';
import {
  dueForAccount,
  dueForRoute,
  evolve,
  findRoute,
  initialState,
  LiveTable,
  routeKey,
  StateHasher,
  stateHash,
  type State,
} from '../src/reconcile/index.ts';
import { uint64 } from '../src/events/index.ts';
import { measure, median, perItemUs, round, type Cost } from './measure.ts';
import { asNew, workload } from './workload.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const PIPELINE_EVENTS = Number(process.env['BENCH_PIPELINE'] ?? 20_000);
const REPLAY_EVENTS = Number(process.env['BENCH_REPLAY'] ?? 1_000_000);
const BATCH = 100;

const note = (text: string): void => void process.stderr.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), 'dacapo-bench-'));

/** Evidence that moves the machine at most steps: read, refuse, tick, fail, reopen. */
function evidenceRing(): readonly RouteEvidence[] {
  const entry = (
    version: number,
  ): { state: 'connected'; connectionVersion: ReturnType<typeof uint64>; connectionIdHash: string } => ({
    state: 'connected',
    connectionVersion: uint64(version),
    connectionIdHash: 'h',
  });
  const read = (revision: number, atMs: number): RouteEvidence => ({
    type: 'read',
    stamp: { line: 0, revision: uint64(revision) },
    entry: entry(revision),
    startedAt: revision,
    epoch: 1,
    epochAt: 1,
    atMs,
  });
  const ring: RouteEvidence[] = [
    {
      type: 'device',
      device: {
        release: { version: '1', digest: 'd' },
        kind: 'remote',
        authorization: 'api_key',
        enabled: true,
        incompatible: null,
      },
    },
  ];
  for (let i = 1; i <= 16; i++) {
    ring.push(
      read(i, i * 1000),
      { type: 'opened', atMs: i * 1000 },
      { type: 'failed', atMs: i * 1000, contract: false, retryAfterMs: 0, jitter: 5 },
      { type: 'ticked', nowMs: i * 1_000_000 },
      { type: 'rejected', position: i, atMs: i * 1000 },
    );
  }
  return ring;
}

function machineBench(): object {
  const ring = evidenceRing();
  const run = (steps: number, step: (evidence: RouteEvidence) => void): Cost =>
    measure(() => {
      for (let i = 0; i < steps; i++) step(ring[i % ring.length] as RouteEvidence);
    });
  const table = (): Cost => {
    let standing: RouteStanding = routeTable.initial;
    return run(300_000, (evidence) => (standing = routeTable.step(standing, evidence)));
  };
  const actorSend = (): Cost => {
    const actor = createActor(routeMachine).start();
    return run(30_000, (evidence) => actor.send(evidence));
  };
  const pure = (): Cost => {
    let snapshot = routeMachine.resolveState({ value: routeTable.initial.value, context: routeTable.initial.context });
    return run(6_000, (evidence) => (snapshot = transition(routeMachine, snapshot, evidence)[0]));
  };
  const rounds = Array.from({ length: ROUNDS + 1 }, () => ({
    table: table(),
    actorSend: actorSend(),
    pure: pure(),
  })).slice(1);
  const tableUs = perItemUs(median(rounds.map((r) => r.table)), 300_000);
  const actorUs = perItemUs(median(rounds.map((r) => r.actorSend)), 30_000);
  const pureUs = perItemUs(median(rounds.map((r) => r.pure)), 6_000);
  return {
    tableUs,
    actorSendUs: actorUs,
    transitionUs: pureUs,
    tableOverActorSend: round(actorUs / tableUs, 1),
    tableOverTransition: round(pureUs / tableUs, 1),
  };
}

/** The turn of the engine without its hands: fold, withdraw, append, publish, and what is owed. */
async function pipelineRound(events: readonly LoggedEvent[], n: number): Promise<Cost> {
  const log = await openSqliteLog(join(folder, `pipeline-${String(n)}.db`));
  const state = initialState();
  const table = new LiveTable();
  const hasher = new StateHasher(state);
  const cost = measure(() => {
    for (let from = 0; from < events.length; from += BATCH)
      turn(state, table, hasher, events.slice(from, from + BATCH), (batch) => log.append(batch.map(asNew), from));
    log.mark(log.head, hasher.hash());
  });
  log.close();
  return cost;
}

function turn(
  state: State,
  table: LiveTable,
  hasher: StateHasher,
  batch: readonly LoggedEvent[],
  append: (batch: readonly LoggedEvent[]) => void,
): void {
  const routes = new Map<string, { account: string | null; connector: string }>();
  const accounts = new Set<string>();
  for (const event of batch) {
    const change = evolve(state, event);
    hasher.note(change);
    for (const route of change.routes) routes.set(routeKey(route.account, route.connector), route);
    for (const account of change.accounts) accounts.add(account);
  }
  table.withdraw(state, routes.values());
  append(batch);
  table.publish(state, routes.values());
  for (const { account, connector } of routes.values()) {
    const route = findRoute(state, account, connector);
    if (route !== undefined) dueForRoute(state, route);
  }
  for (const account of accounts) dueForAccount(state, account);
}

/** The same rows, read back from a log, into a file with the same tables and settings: nothing but better-sqlite3. */
function rawRound(rows: readonly unknown[][], schema: readonly string[], columns: number, n: number): Cost {
  const db = new Database(join(folder, `raw-${String(n)}.db`));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  for (const sql of schema) db.exec(sql);
  const insert = db.prepare(`insert into events values (${Array.from({ length: columns }, () => '?').join(',')})`);
  const write = db.transaction((batch: readonly unknown[][]) => {
    for (const row of batch) insert.run(...row);
  });
  const cost = measure(() => {
    for (let from = 0; from < rows.length; from += BATCH) write.immediate(rows.slice(from, from + BATCH));
  });
  db.close();
  return cost;
}

async function pipelineBench(): Promise<object> {
  const events = [...workload(PIPELINE_EVENTS)];
  await pipelineRound(events, 0);
  const source = new Database(join(folder, 'pipeline-0.db'), { readonly: true });
  const rows = source.prepare('select * from events order by position').raw().all() as unknown[][];
  const schema = (
    source.prepare("select sql from sqlite_master where tbl_name = 'events' and sql is not null").all() as {
      sql: string;
    }[]
  ).map(({ sql }) => sql);
  source.close();
  const payloadBytes = round(rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0) / rows.length, 0);
  const columns = rows[0]?.length ?? 0;
  const ours: Cost[] = [];
  const raw: Cost[] = [];
  rawRound(rows, schema, columns, 0);
  for (let n = 1; n <= ROUNDS; n++) {
    raw.push(rawRound(rows, schema, columns, n));
    ours.push(await pipelineRound(events, n));
  }
  const ourCost = median(ours);
  const rawCost = median(raw);
  return {
    events: PIPELINE_EVENTS,
    batch: BATCH,
    rowBytes: payloadBytes,
    rawUs: perItemUs(rawCost, PIPELINE_EVENTS),
    pipelineUs: perItemUs(ourCost, PIPELINE_EVENTS),
    ofRawByCpu: round(rawCost.cpuMs / ourCost.cpuMs),
    ofRawByWall: round(rawCost.wallMs / ourCost.wallMs),
  };
}

async function replayBench(): Promise<object> {
  const path = join(folder, 'replay.db');
  const log = await openSqliteLog(path);
  let batch: LoggedEvent[] = [];
  const flush = (): void => {
    log.append(batch.map(asNew));
    batch = [];
  };
  for (const event of workload(REPLAY_EVENTS)) if (batch.push(event) === 1_000) flush();
  if (batch.length > 0) flush();
  log.close();
  const costs: Cost[] = [];
  let hash = '';
  for (let n = 0; n < Math.min(ROUNDS, 3); n++) {
    const reader = await openSqliteLogReadOnly(path);
    costs.push(
      measure(() => {
        const state = initialState();
        for (const event of reader.read()) evolve(state, event);
        hash = stateHash(state);
      }),
    );
    reader.close();
  }
  const cost = median(costs);
  return {
    events: REPLAY_EVENTS,
    chainChecked: true,
    cpuSeconds: round(cost.cpuMs / 1000),
    wallSeconds: round(cost.wallMs / 1000),
    usPerEvent: perItemUs(cost, REPLAY_EVENTS),
    stateHash: hash,
  };
}

const sections: Readonly<Record<string, () => object | Promise<object>>> = {
  machine: machineBench,
  pipeline: pipelineBench,
  replay: replayBench,
};
const asked = process.argv.slice(2);
try {
  const measured: Record<string, object> = {};
  for (const [name, section] of Object.entries(sections)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    note(`${name} …`);
    measured[name] = await section();
  }
  const document = { schemaVersion: 1, bench: 'core', node: process.version, ...measured };
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
