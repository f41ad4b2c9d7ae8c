/** States put by beside the events: two of one key, none that does not hold. */
import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LogUnavailable, memoryLog, openSqliteLog, type EventLog } from '../../src/events/index.ts';
import { event } from './samples.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

function fileOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dacapo-checkpoints-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'log.sqlite');
}
async function onDisk(path = fileOf()): ReturnType<typeof openSqliteLog> {
  const log = await openSqliteLog(path);
  closing.push(() => log.close());
  return log;
}
const filled = <Log extends EventLog>(log: Log): Log => {
  for (let i = 0; i < 4; i++) log.append([event(), event()]);
  return log;
};
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const held = (log: EventLog, key: string): unknown => {
  const found = log.loadCheckpoint?.(key);
  return found === undefined ? undefined : [found.position, ...found.bytes];
};

describe.each([
  ['in memory', () => Promise.resolve(memoryLog())],
  ['on disk', () => onDisk()],
])('a log %s', (_, open: () => Promise<EventLog>) => {
  it('gives back the newest state of a key, and none of another', async () => {
    const log = filled(await open());
    expect(held(log, 'k')).toBeUndefined();
    log.saveCheckpoint?.({ position: 4, key: 'k', bytes: bytes(1, 2) });
    log.saveCheckpoint?.({ position: 8, key: 'k', bytes: bytes(3) });
    expect(['k', 'j', 'l'].map((key) => held(log, key))).toEqual([[8, 3], undefined, undefined]);
  });

  it('drops those of other keys with the first one of a new key', async () => {
    const log = filled(await open());
    log.saveCheckpoint?.({ position: 4, key: 'old', bytes: bytes(1) });
    log.saveCheckpoint?.({ position: 6, key: 'new', bytes: bytes(2) });
    expect([held(log, 'old'), held(log, 'new')]).toEqual([undefined, [6, 2]]);
  });

  it('keeps no state of a place that is not recorded', async () => {
    const log = filled(await open());
    expect(() => log.saveCheckpoint?.({ position: 9, key: 'k', bytes: bytes(1) })).toThrow(RangeError);
  });
});

describe('a log on disk', () => {
  it('keeps two states, and has the older one where the newer does not hold', async () => {
    const path = fileOf();
    const log = filled(await onDisk(path));
    for (const position of [2, 4, 6, 8]) log.saveCheckpoint({ position, key: 'k', bytes: bytes(position) });
    log.close();
    const db = new Database(path);
    expect(db.prepare('select position from checkpoints order by position').pluck().all()).toEqual([6, 8]);
    db.prepare("update checkpoints set bytes = x'00' where position = 8").run();
    db.close();
    expect(held(await onDisk(path), 'k')).toEqual([6, 6]);
  });

  it('gives none that was folded from another log, as after a backup was put back', async () => {
    const path = fileOf();
    const log = filled(await onDisk(path));
    log.saveCheckpoint({ position: 8, key: 'k', bytes: bytes(8) });
    log.close();
    const db = new Database(path);
    db.prepare('delete from events where position > 6').run();
    db.close();
    const again = await onDisk(path);
    again.append([event(), event()]);
    expect([again.head, held(again, 'k')]).toEqual([8, undefined]);
  });

  it('forgets its states with a payload that is redacted, as they were folded from it', async () => {
    const log = filled(await onDisk());
    log.saveCheckpoint({ position: 8, key: 'k', bytes: bytes(8) });
    log.redact(3);
    expect(held(log, 'k')).toBeUndefined();
    // Whoever folds along still holds what was redacted.
    log.saveCheckpoint({ position: 8, key: 'k', bytes: bytes(8) });
    expect(held(log, 'k')).toBeUndefined();
    log.close();
    const again = await onDisk(log.path);
    again.saveCheckpoint({ position: 8, key: 'k', bytes: bytes(8) });
    expect(held(again, 'k')).toEqual([8, 8]);
  });

  it('says that it is closed, like every write', async () => {
    const log = filled(await onDisk());
    log.close();
    expect(() => log.saveCheckpoint({ position: 8, key: 'k', bytes: bytes(8) })).toThrow(LogUnavailable);
  });
});
