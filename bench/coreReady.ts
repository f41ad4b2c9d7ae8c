/**
 * From opening a log of many events that left 100,000 routes, to a reconciler that shows and owes what it should: 100 accounts that
 * have each been read with 1,000 connectors, the last one signed in with all of its routes open. Lengths of log are taken in turns, because a start must not grow
 * with them: each time in a new process, as a daemon starts, and again in one that has started before.
 *
 * What a start puts off it has not saved. So beside it stands what comes next in a daemon: every connector is reported again, in one
 * turn, and an account signs in.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openSqliteLog, type Edge, type Fact, type SqliteLog } from '../src/events/index.ts';
import { openReconciler, type Effect, type Reconciler } from '../src/reconcile/index.ts';
import { uint64 } from '../src/events/index.ts';
import { round, ROUNDS } from './measure.ts';

const ACCOUNTS = 100;
const CONNECTORS = Array.from({ length: 1_000 }, (_, i) => `connector-${String(i)}`);
const EVENTS = (process.env['BENCH_READY'] ?? '100000,1000000').split(',').map(Number);
const BEGIN_MS = 1_700_000_000_000;
const DIGEST = 'sha256-4f9c0c1d6f5e4b7a8d3c2b1a09f8e7d6';

const LAST = `account-${String(ACCOUNTS - 1)}`;

/** Time goes on from `fromMs`, so that what has waited for a moment is due at the start. */
function edge(fromMs: number): Edge {
  let ids = 0;
  const run = process.hrtime.bigint();
  return {
    now: () => fromMs + ids * 10,
    newId: () => `event-${String(run)}-${String(ids++)}`,
    wake: () => () => undefined,
  };
}

/** Opens what the last account owes at once, and answers nothing else. */
function perform(effect: Effect): Promise<Fact> {
  if (effect.kind !== 'openRoute' || effect.account !== LAST) return new Promise<never>(() => undefined);
  const { account, connector, generation, epoch } = effect;
  const tools = { count: 12, digest: DIGEST };
  return Promise.resolve({ type: 'route.opened', data: { account, connector, generation, epoch, tools } });
}

function start(log: SqliteLog): Reconciler {
  const [newest] = [...log.read(log.head)];
  return openReconciler({
    log,
    perform,
    edge: edge((newest?.at ?? BEGIN_MS) + 60_000),
    package: '0.1.0',
    boot: 'boot',
  });
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
  // Each opening is an event of its own.
  while (engine.table.size < CONNECTORS.length) await new Promise(setImmediate);
  for (let revision = 2; engine.position < events; revision += 1_000)
    engine.accept(hints(LAST, revision, Math.min(1_000, events - engine.position)));
  await engine.close();
  const { head } = log;
  log.close();
  return head;
}

interface Start {
  /** From the first call to the end of the start's own turn. */
  readonly wallMs: number;
  /** Of all threads, those that collect garbage too. */
  readonly cpuMs: number;
  /** Of `wallMs`: until the log is open and its newest events are checked. */
  readonly logMs: number;
  /** From the process's own beginning, with everything that it loads. Says something of a new process only. */
  readonly processMs: number;
}

async function startOnce(path: string, andThen: (engine: Reconciler) => void = () => undefined): Promise<Start> {
  const cpu = process.cpuUsage();
  const from = performance.now();
  const log = await openSqliteLog(path);
  const opened = performance.now();
  const engine = start(log);
  const ready = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  andThen(engine);
  log.close();
  return { wallMs: ready - from, cpuMs: (user + system) / 1000, logMs: opened - from, processMs: ready };
}

/** What a daemon does next, in ms. */
async function settleOnce(path: string): Promise<number> {
  let settledMs = 0;
  await startOnce(path, (engine) => {
    const from = performance.now();
    engine.accept(CONNECTORS.map(install));
    engine.accept({ type: 'account.activated', data: { account: 'account-0', epoch: engine.nextEpoch() } });
    settledMs = performance.now() - from;
  });
  return settledMs;
}

/** This file again, as a program that starts once. */
function inNewProcess(path: string, what: 'start' | 'settle'): unknown {
  const { stdout } = spawnSync(process.execPath, [import.meta.filename, what, path], { encoding: 'utf8' });
  return JSON.parse(stdout);
}

const spread = (values: readonly number[]): object => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => round(sorted[Math.floor(part * (sorted.length - 1))] ?? NaN, 1);
  return { p50: at(0.5), min: at(0), max: at(1) };
};

const spreads = (starts: readonly Start[], names: readonly (keyof Start)[]): object =>
  Object.fromEntries(names.map((name) => [name, spread(starts.map((one) => one[name]))]));

interface Measured {
  readonly path: string;
  readonly logged: number;
  readonly cold: Start[];
  readonly warm: Start[];
}

/** Each start leaves one event more behind the state that was put by, the same number at each length. */
async function measureInTurns(logs: readonly Measured[]): Promise<void> {
  for (let n = 0; n < ROUNDS; n++) for (const { path, cold } of logs) cold.push(inNewProcess(path, 'start') as Start);
  for (let n = 0; n <= ROUNDS; n++)
    for (const { path, warm } of logs) {
      const one = await startOnce(path);
      if (n > 0) warm.push(one);
    }
}

export async function readyBench(folder: string): Promise<object> {
  const logs: Measured[] = [];
  for (const events of EVENTS) {
    const path = join(folder, `ready-${String(events)}.db`);
    logs.push({ path, logged: await write(path, events), cold: [], warm: [] });
  }
  await measureInTurns(logs);
  const measured = logs.map(({ path, logged, cold, warm }) => ({
    logged,
    routes: ACCOUNTS * CONNECTORS.length,
    newProcess: spreads(cold, ['wallMs', 'cpuMs', 'logMs', 'processMs']),
    sameProcess: spreads(warm, ['wallMs', 'cpuMs', 'logMs']),
    // Once and last: it leaves a thousand events that the next start would have to fold.
    thenAllReportedMs: round(inNewProcess(path, 'settle') as number, 1),
  }));
  return Object.fromEntries(EVENTS.map((events, index) => [String(events), measured[index]]));
}

async function runOnce([what, path = '']: readonly string[]): Promise<void> {
  process.stdout.write(JSON.stringify(what === 'settle' ? await settleOnce(path) : await startOnce(path)));
  // Most effects of this bench never end.
  process.exit();
}
if (process.argv[1] === import.meta.filename) await runOnce(process.argv.slice(2));
