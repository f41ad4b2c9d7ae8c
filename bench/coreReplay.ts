/** Reading a log back with its chain checked, folding it, and hashing the state at the end. */
import { join } from 'node:path';
import { openSqliteLog, openSqliteLogReadOnly, type LoggedEvent } from '../src/events/index.ts';
import { evolve, initialState, stateHash } from '../src/reconcile/index.ts';
import { measure, median, perItemUs, round, ROUNDS, type Cost } from './measure.ts';
import { asNew, workload } from './workload.ts';

const EVENTS = Number(process.env['BENCH_REPLAY'] ?? 1_000_000);

export async function replayBench(folder: string): Promise<object> {
  const path = join(folder, 'replay.db');
  const log = await openSqliteLog(path);
  let batch: LoggedEvent[] = [];
  const flush = (): void => {
    log.append(batch.map(asNew));
    batch = [];
  };
  for (const event of workload(EVENTS)) if (batch.push(event) === 1_000) flush();
  if (batch.length > 0) flush();
  // As a daemon does in its idle moments.
  while (log.rest());
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
    events: EVENTS,
    chainChecked: true,
    sealed: true,
    cpuSeconds: round(cost.cpuMs / 1000),
    wallSeconds: round(cost.wallMs / 1000),
    usPerEvent: perItemUs(cost, EVENTS),
    stateHash: hash,
  };
}
