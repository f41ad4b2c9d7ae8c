/**
 * From opening a log of many events that left 100,000 routes, to a reconciler that shows and owes what it should: 100 accounts that
 * have each been read with 1,000 connectors, the last one signed in. Two lengths of log, because a start must not grow with it.
 */
import { join } from 'node:path';
import { openSqliteLog, type Edge, type Fact, type SqliteLog } from '../src/events/index.ts';
import { openReconciler, type Reconciler } from '../src/reconcile/index.ts';
import { uint64 } from '../src/events/index.ts';
import { median, round, ROUNDS, type Cost } from './measure.ts';

const ACCOUNTS = 100;
const CONNECTORS = Array.from({ length: 1_000 }, (_, i) => `connector-${String(i)}`);
const EVENTS = (process.env['BENCH_READY'] ?? '100000,1000000').split(',').map(Number);
const DIGEST = 'sha256-4f9c0c1d6f5e4b7a8d3c2b1a09f8e7d6';

function edge(): Edge {
  let ids = 0;
  const run = process.hrtime.bigint();
  return {
    now: () => 1_700_000_000_000 + ids * 10,
    newId: () => `event-${String(run)}-${String(ids++)}`,
    wake: () => () => undefined,
  };
}

function start(log: SqliteLog): Reconciler {
  const perform = (): Promise<Fact> => new Promise<never>(() => undefined);
  return openReconciler({ log, perform, edge: edge(), package: '0.1.0', boot: 'boot' });
}

const install = (connector: string): Fact => ({
  type: 'connector.installed',
  data: {
    connector,
    release: { version: '1.0.0', digest: DIGEST },
    kind: 'remote',
    authorization: 'api_key',
    enabled: true,
    incompatible: null,
  },
});

const snapshot = (account: string, epoch: number, startedAt: number, revision: number): Fact => ({
  type: 'snapshot.received',
  data: {
    account,
    epoch,
    startedAt,
    serverEpoch: uint64(1),
    revision: uint64(revision),
    complete: true,
    entries: Object.fromEntries(
      CONNECTORS.map((connector) => [
        connector,
        { state: 'connected', connectionVersion: uint64(1), connectionIdHash: `${account}-1`, releaseVersion: '1.0.0' },
      ]),
    ),
  },
});

/** Enough of nothing new: hints of ever greater revisions. */
function hints(account: string, from: number, count: number): readonly Fact[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'hint.received',
    data: { account, revision: uint64(from + i), connector: null, incarnation: 'i1', count: 1 },
  }));
}

/** Writes the log through the engine, so that it puts its state by as a daemon does. Returns how many events it holds. */
async function write(path: string, events: number): Promise<number> {
  const log = await openSqliteLog(path);
  const engine = start(log);
  engine.accept(CONNECTORS.map(install));
  for (let index = 0; index < ACCOUNTS; index++) {
    const account = `account-${String(index)}`;
    const epoch = engine.nextEpoch();
    engine.accept({ type: 'account.activated', data: { account, epoch } });
    engine.accept(snapshot(account, epoch, engine.position, 1));
  }
  const last = `account-${String(ACCOUNTS - 1)}`;
  for (let revision = 2; engine.position < events; revision += 1_000)
    engine.accept(hints(last, revision, Math.min(1_000, events - engine.position)));
  await engine.close();
  const { head } = log;
  log.close();
  return head;
}

async function readyOnce(path: string): Promise<Cost> {
  const cpu = process.cpuUsage();
  const wall = performance.now();
  const log = await openSqliteLog(path);
  const engine = start(log);
  const { user, system } = process.cpuUsage(cpu);
  const cost = { cpuMs: (user + system) / 1000, wallMs: performance.now() - wall };
  void engine;
  log.close();
  return cost;
}

export async function readyBench(folder: string): Promise<object> {
  const measured: Record<string, object> = {};
  for (const events of EVENTS) {
    const path = join(folder, `ready-${String(events)}.db`);
    const logged = await write(path, events);
    const costs: Cost[] = [];
    for (let n = 0; n <= ROUNDS; n++) costs.push(await readyOnce(path));
    const { cpuMs, wallMs } = median(costs.slice(1));
    const first = costs[0] as Cost;
    measured[String(events)] = {
      logged,
      routes: ACCOUNTS * CONNECTORS.length,
      cpuMs: round(cpuMs),
      wallMs: round(wallMs),
      firstInProcessMs: round(first.wallMs),
    };
  }
  return measured;
}
