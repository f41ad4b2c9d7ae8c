/** A start goes on from a state that was put by, and it is as if everything had been folded. */
import { describe, expect, test } from 'vitest';
import { eventTypes, LogUnavailable, memoryLog, type EventLog, type Fact } from '../../src/events/index.ts';
import { checkpointKeyOf } from '../../src/reconcile/checkpoint.ts';
import { checkpointKey, openReconciler, type Reconciler } from '../../src/reconcile/index.ts';
import { replay } from '../../src/replay/index.ts';
import { StillEdge } from '../support/hands.ts';

/** A log that says how many events were read from it. */
function counted(): { readonly log: EventLog; readonly reads: number[] } {
  const log = memoryLog();
  const reads: number[] = [];
  const read = log.read.bind(log);
  log.read = (from = 1) => {
    reads.push(log.head - from + 1);
    return read(from);
  };
  return { log, reads };
}
const edge = new StillEdge();
function open(log: EventLog): Reconciler {
  const perform = (): Promise<Fact> => new Promise(() => undefined);
  return openReconciler({ log, edge, perform, package: '0.1.0', boot: 'b' });
}
function install(engine: Reconciler, connector: string): void {
  const release = { version: '1', digest: 'd' };
  const data = { connector, release, kind: 'stdio', authorization: 'none', enabled: true, incompatible: null } as const;
  engine.accept({ type: 'connector.installed', data });
}
/** Rows that nobody would fold twice: a channel that comes and goes. */
function flap(engine: Reconciler, rows: number): void {
  const lost = { type: 'hints.lost', data: { incarnation: 'i', reason: 'away' } } as const;
  engine.accept(Array.from({ length: rows }, () => lost));
}

describe('a state is put by', () => {
  test('after ten thousand events, and the next start reads only what came after', async () => {
    const { log, reads } = counted();
    const engine = open(log);
    install(engine, 'files');
    flap(engine, 10_000);
    flap(engine, 500);
    const [again, fresh] = [open(log), replay(log)];
    expect(reads.slice(0, 2)).toEqual([0, 500]);
    expect(again.stateHash()).toBe(replay(log).stateHash);
    expect(fresh.routes.map(({ connector }) => connector)).toEqual(['files']);
    await Promise.all([engine.close(), again.close()]);
  });

  test('at the end of a process, when it is worth it', async () => {
    const { log, reads } = counted();
    const engine = open(log);
    flap(engine, 1_500);
    await engine.close();
    await open(log).close();
    expect(reads).toEqual([0, 0]);
  });

  test('not by an engine that has failed, or whose log is away', async () => {
    const log = memoryLog();
    const engine = open(log);
    flap(engine, 1_500);
    log.append([{ type: 'clock.ticked', data: { reason: 'poll' }, id: 'foreign', at: edge.now(), cause: null }]);
    expect(() => flap(engine, 1)).toThrow('head');
    await engine.close();
    expect(log.loadCheckpoint?.(checkpointKey)).toBeUndefined();
  });
});

test('a mark that the log refuses is left out, and no event is written twice for it', async () => {
  const log = memoryLog();
  log.mark = () => {
    throw new LogUnavailable('disk full');
  };
  const engine = open(log);
  flap(engine, 999);
  flap(engine, 1);
  expect([log.head, engine.readOnly, replay(log).stateHash]).toEqual([1_001, false, engine.stateHash()]);
  await engine.close();
});

test.each([
  ['cut off', (bytes: Uint8Array) => bytes.slice(0, bytes.length - 9)],
  ['not one at all', () => new Uint8Array(40)],
])('a state that is %s is as good as none', async (_, harm) => {
  const { log, reads } = counted();
  const engine = open(log);
  flap(engine, 1_500);
  await engine.close();
  const kept = log.loadCheckpoint?.(checkpointKey);
  if (kept !== undefined) log.saveCheckpoint?.({ ...kept, bytes: harm(kept.bytes) });
  const again = open(log);
  expect(reads).toEqual([0, 1_501]);
  expect(again.stateHash()).toBe(replay(log).stateHash);
  await again.close();
});

test('a program that knows one more type of event folds the log anew: what was passed over as unknown is news to it', () => {
  expect(checkpointKeyOf(eventTypes)).toBe(checkpointKey);
  expect(checkpointKeyOf([...eventTypes, 'connector.praised'])).not.toBe(checkpointKey);
});
