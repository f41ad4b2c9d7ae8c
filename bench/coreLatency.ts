/**
 * How long until agents see it. A server that rotates a key 200 times a second, each rotation being a hint, a snapshot, a closing, an
 * opening and a poll: 1,000 events a second, each turn synced to the disk (FULL) before it is shown. From handing in the snapshot to
 * the table with the new version, with openings that take no time. And: whether what may no longer be seen is gone when the call that
 * said so returns.
 */
import { join } from 'node:path';
import { openSqliteLog, uint64, type Fact } from '../src/events/index.ts';
import { systemEdge } from '../src/events/index.ts';
import { openReconciler, type Effect, type Reconciler } from '../src/reconcile/index.ts';
import { round } from './measure.ts';

const SECONDS = Number(process.env['BENCH_LATENCY_SECONDS'] ?? 10);
const ROUNDS_A_SECOND = 200;
const KEY = 'ann/docs';

async function perform(effect: Effect): Promise<Fact> {
  await Promise.resolve();
  // The snapshots of this bench are handed in, not asked for.
  if (effect.kind === 'fetchSnapshot') return new Promise<never>(() => undefined);
  const { kind, ...route } = effect;
  if (kind === 'closeRoute') return { type: 'route.closed', data: { ...route, reason: 'withdrawn' } };
  return { type: 'route.opened', data: { ...route, tools: { count: 12, digest: 'tools' } } };
}

const snapshot = (engine: Reconciler, version: number): Fact => ({
  type: 'snapshot.received',
  data: {
    account: 'ann',
    epoch: engine.active?.epoch ?? 0,
    startedAt: engine.position,
    serverEpoch: uint64(1),
    revision: uint64(version),
    complete: true,
    entries: {
      docs: {
        state: 'connected',
        connectionVersion: uint64(version),
        connectionIdHash: 'h',
        releaseVersion: '1.0.0',
      },
    },
  },
});

const hint = (version: number): Fact => ({
  type: 'hint.received',
  data: { account: 'ann', revision: uint64(version), connector: 'docs', incarnation: 'i', count: 1 },
});

function begin(engine: Reconciler): void {
  const release = { version: '1.0.0', digest: 'd' };
  engine.accept({
    type: 'connector.installed',
    data: { connector: 'docs', release, kind: 'remote', authorization: 'api_key', enabled: true, incompatible: null },
  });
  engine.accept({ type: 'account.activated', data: { account: 'ann', epoch: engine.nextEpoch() } });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** One rotation; resolves with the ms until its route was in the table. */
function rotate(engine: Reconciler, version: number): Promise<number> {
  engine.accept(hint(version));
  engine.accept({ type: 'clock.ticked', data: { reason: 'poll' } });
  const fact = snapshot(engine, version);
  const from = performance.now();
  return new Promise((resolve) => {
    const seen = engine.tables.subscribe((table) => {
      if (table.get(KEY)?.connectionVersion !== uint64(version)) return;
      resolve(performance.now() - from);
      setImmediate(() => {
        seen.unsubscribe();
      });
    });
    engine.accept(fact);
  });
}

/** Whether a refusal and a switch are seen when `accept` returns. */
function sameTick(engine: Reconciler, generation: string): { readonly refusal: boolean; readonly switch: boolean } {
  const epoch = engine.active?.epoch ?? 0;
  engine.accept({
    type: 'call.rejected',
    data: { account: 'ann', epoch, connector: 'docs', generation, stamp: null, code: -33002 },
  });
  return { refusal: !engine.table.has(KEY), switch: switched(engine) };
}

function switched(engine: Reconciler): boolean {
  engine.accept({ type: 'account.activated', data: { account: 'bob', epoch: engine.nextEpoch() } });
  return [...engine.table.values()].every(({ account }) => account !== 'ann');
}

export async function latencyBench(folder: string): Promise<object> {
  const log = await openSqliteLog(join(folder, 'latency.db'));
  const engine = openReconciler({ log, perform, edge: systemEdge(), package: '0.1.0', boot: 'boot' });
  begin(engine);
  const before = engine.position;
  const began = performance.now();
  const waits: number[] = [];
  for (let version = 1; version <= SECONDS * ROUNDS_A_SECOND; version++) {
    waits.push(await rotate(engine, version));
    await pause(began + (version * 1_000) / ROUNDS_A_SECOND - performance.now());
  }
  const perSecond = ((engine.position - before) * 1_000) / (performance.now() - began);
  const gone = sameTick(engine, engine.table.get(KEY)?.generation ?? '');
  await engine.close();
  log.close();
  waits.sort((a, b) => a - b);
  const at = (share: number): number => round(waits[Math.floor(share * (waits.length - 1))] as number, 3);
  return {
    eventsPerSecond: round(perSecond, 0),
    samples: waits.length,
    publishedP50Ms: at(0.5),
    publishedP99Ms: at(0.99),
    publishedMaxMs: at(1),
    goneInTheSameTick: gone,
  };
}
