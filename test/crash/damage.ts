/** What was on the disk is not any more: the WAL is cut off, a bit has flipped. */
import Database from 'better-sqlite3';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { judge, judgeReadOnly } from './judge.ts';
import { filesOf, LOG, type Place, type Start } from './place.ts';
import { spread, type Points } from './spread.ts';
import { eventsAfter, live, type Acknowledged, type LifeName } from './workload.ts';

/** The WAL ends at, just before, just after and in the middle of each frame. What is cut off was synced, so it may be gone. */
export async function* frames(place: Place, start: Start): Points {
  const FRAME = 24 + 4096;
  const [files, wanted] = await place.with(start.files, async (folder) => {
    let said = start.before;
    const log = await live(join(folder, LOG), 'brief', { acknowledge: (all) => (said = all) }, start.before);
    for (let batch = 1; batch < 12; batch++) log.append(eventsAfter(log.head, batch));
    const image = filesOf(folder);
    said = { ...said, head: log.head };
    log.close();
    return [image, said] as const;
  });
  const wal = files.get(`${LOG}-wal`)!;
  for (let frame = 32; frame <= wal.length; frame += FRAME)
    for (const size of [frame - 1, frame, frame + 24, frame + 24 + 2048]) {
      const image = new Map([...files, [`${LOG}-wal`, wal.subarray(0, size)]]);
      const judged = await place.with(image, (folder) => judge(join(folder, LOG), wanted));
      yield { ...judged, at: `the WAL is cut off at ${String(size)}` };
    }
}

/** Every bit, or some of them: see the matrix. */
export async function* bits(place: Place, life: LifeName, start: Start, limit: number): Points {
  // Each bit of 16 KiB, or one of every byte of what the tables alone take.
  const [files, wanted] = await small(place, life, start, limit === Infinity ? 7 : 0);
  const db = files.get(LOG)!;
  const all = Array.from({ length: db.length * 8 }, (_, bit) => bit);
  yield* place.stay(files, async function* (folder) {
    const path = join(folder, LOG);
    for (const bit of spread(all, limit)) {
      const [at, mask] = [bit >> 3, 1 << (bit & 7)];
      setByte(path, at, db[at]! ^ mask);
      yield { ...(await judgeReadOnly(path, wanted)), at: `byte ${String(at)}, bit ${String(bit & 7)}` };
      setByte(path, at, db[at]!);
    }
  });
}

function setByte(path: string, at: number, byte: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.of(byte), 0, 1, at);
  closeSync(file);
}

/** A log with small pages: every table has one of its own, so with the usual ones it would be mostly air. */
async function small(
  place: Place,
  life: LifeName,
  start: Start,
  batches: number,
): Promise<readonly [ReadonlyMap<string, Buffer>, Acknowledged]> {
  return place.with(start.files, async (folder) => {
    let said = start.before;
    const path = join(folder, LOG);
    const log = await live(path, life, { acknowledge: (all) => (said = all) }, start.before);
    for (let batch = 0; batch < batches; batch++) log.append(eventsAfter(log.head, 5));
    said = { ...said, head: log.head };
    log.close();
    const db = new Database(path);
    for (const pragma of ['journal_mode = DELETE', 'page_size = 512']) db.pragma(pragma);
    db.exec('vacuum');
    db.pragma('journal_mode = WAL');
    db.close();
    return [new Map([...filesOf(folder)].filter(([name]) => !name.includes('backup'))), said] as const;
  });
}
