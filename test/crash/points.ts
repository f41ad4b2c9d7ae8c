/** One point of the table after the other: a log is brought to it, and what is left is judged. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { LogUnavailable, openSqliteLog } from '../../src/events/index.ts';
import { Random } from '../../src/simulate/random.ts';
import { bits, frames } from './damage.ts';
import { atRandom, Disk, everything } from './disk.ts';
import { judge, type Judged } from './judge.ts';
import type { Row } from './matrix.ts';
import { LOG, type Place, type Start } from './place.ts';
import type { Mode, Operation } from './shim.ts';
import { spread, type Points } from './spread.ts';
import { weakly } from './weakly.ts';
import { eventsAfter, live, type Acknowledged } from './workload.ts';

/** Chances that a sector which was not synced is on the disk after a power cut. */
const KEPT = [0, 0.1, 0.5, 0.9, 1];
/** Before a disk that refuses all of a kind takes it again. */
const REFUSALS = 2;

/** The points of a row, at most `limit` of them where there is no end to them. */
export async function* pointsOf(place: Place, row: Row, limit: number): Points {
  const start = await place.start(row.life);
  if (row.how === 'kill' || row.how === 'half') yield* kills(place, row, start, limit);
  if (row.how === 'fail' || row.how === 'full' || row.how === 'unsynced') yield* refusals(place, row, start, limit);
  if (row.how === 'cut') yield* cuts(place, start, await recorded(place, row, start), limit);
  if (row.how === 'cut-after-failed-sync') yield* cutsAfterFailedSync(place, row, start, limit);
  if (row.how === 'cut-in-recovery') yield* cutsInRecovery(place, row, start, limit);
  if (row.how === 'frames') yield* frames(place, start);
  if (row.how === 'bits') yield* bits(place, row.life, start, limit);
}

async function* kills(place: Place, row: Row, start: Start, limit: number): Points {
  const life = await recorded(place, row, start);
  const operations = counted(life);
  const numbers = operations.flatMap(({ kind }, index) => (row.how === 'kill' || kind === 'write' ? [index + 1] : []));
  for (const number of spread(numbers, limit))
    yield await place.with(start.files, async (folder) => {
      const said = place.kill(folder, row.life, start, row.how as Mode, number);
      // A process that is never heard would pass: nothing acknowledged is always held.
      assert.deepEqual(said, saidBefore(life, operations[number - 1]!), 'what the killed process acknowledged');
      return { ...(await judge(join(folder, LOG), said ?? start.before)), at: nameOf(operations, number) };
    });
}

/** What the same life acknowledged before an operation when nothing happened to it. */
function saidBefore(life: readonly Operation[], operation: Operation): Acknowledged | undefined {
  const note = life.slice(0, life.indexOf(operation)).findLast(({ kind }) => kind === 'note');
  return note && (JSON.parse(note.data.toString()) as Acknowledged);
}

async function* refusals(place: Place, row: Row, start: Start, limit: number): Points {
  const operations = counted(await recorded(place, row, start));
  const met = row.how === 'full' ? 'write' : 'sync';
  const numbers = operations.flatMap(({ kind }, index) => (row.how === 'fail' || kind === met ? [index + 1] : []));
  for (const number of spread(numbers, limit))
    yield await place.with(start.files, async (folder) => ({
      ...(await refusal(place, row, start, folder, number)),
      at: nameOf(operations, number),
    }));
}

/** An operation that fails once is passed at the second try. */
async function refusal(place: Place, row: Row, start: Start, folder: string, number: number): Promise<Judged> {
  let [said, refused] = [start.before, 0];
  const acknowledge = (all: Acknowledged): void => void (said = all);
  const onRefused = (error: unknown): void => {
    refused++;
    if (!(error instanceof LogUnavailable) || refused > (row.how === 'fail' ? 1 : REFUSALS)) throw error;
    if (refused === REFUSALS) place.relent();
  };
  try {
    await place.suffer(folder, row.life, start, row.how as Mode, number, { acknowledge, refused: onRefused });
  } catch (error) {
    return { verdict: 'wrong', text: `after ${String(refused)} refusals: ${String(error)}`, head: said.head };
  }
  const judged = await judge(join(folder, LOG), said);
  if (judged.verdict !== 'held' || judged.head === said.head) return judged;
  return { ...judged, verdict: 'wrong', text: `ends at ${String(judged.head)}, beyond ${String(said.head)}` };
}

/** Cuts spread over all operations, each time with other sectors. */
async function* cuts(place: Place, start: Start, operations: readonly Operation[], limit: number, seed = 1): Points {
  const random = new Random(seed);
  const each = Math.max(1, Math.round(limit / operations.length));
  const chosen = new Set(spread([...operations.keys()], limit));
  const disk = new Disk(start.files);
  let wanted = start.before;
  for (const [index, operation] of operations.entries()) {
    if (operation.kind === 'note') wanted = JSON.parse(operation.data.toString()) as Acknowledged;
    disk.apply(operation);
    for (let turn = 0; chosen.has(index) && turn < each; turn++) {
      const kept = random.pick(KEPT);
      const image = disk.image(atRandom(random, kept));
      const judged = await place.with(image, (folder) => judge(join(folder, LOG), wanted));
      yield { ...judged, at: `after ${nameOf(operations, index + 1)}, ${String(kept)} kept, seed ${String(seed)}` };
    }
  }
}

async function* cutsAfterFailedSync(place: Place, row: Row, start: Start, limit: number): Points {
  const operations = counted(await recorded(place, row, start));
  const syncs = operations.flatMap(({ kind }, index) => (kind === 'sync' ? [index + 1] : []));
  const each = Math.ceil(limit / syncs.length);
  for (const sync of syncs) {
    const after = await recorded(place, row, start, sync);
    yield* cuts(place, start, after, each, sync);
  }
}

/** The first cut leaves a log to recover; the second comes while it is. */
async function* cutsInRecovery(place: Place, row: Row, start: Start, limit: number): Points {
  const operations = await recorded(place, row, start);
  const random = new Random(2);
  const firsts = Math.ceil(Math.sqrt(limit));
  const chosen = new Set(spread([...operations.keys()], firsts));
  const disk = new Disk(start.files);
  let before = start.before;
  for (const [index, operation] of operations.entries()) {
    if (operation.kind === 'note') before = JSON.parse(operation.data.toString()) as Acknowledged;
    disk.apply(operation);
    if (!chosen.has(index)) continue;
    const files = disk.image(random.chance(0.5) ? everything : atRandom(random, 0.5));
    const recovery = await place.record(files, (path, note) => recover(path, before, note));
    yield* cuts(place, { files, before }, recovery, Math.ceil(limit / firsts), index);
  }
}

async function recover(
  path: string,
  before: Acknowledged,
  note: (all: Acknowledged) => void,
): Promise<{ close(): void }> {
  const log = await openSqliteLog(path);
  log.append(eventsAfter(log.head, 2));
  note({ ...before, head: log.head });
  log.rest();
  log.append(eventsAfter(log.head, 1));
  note({ ...before, head: log.head });
  return log;
}

/** Every operation of a life that nothing happens to, or that meets a failing sync. */
function recorded(place: Place, row: Row, start: Start, failing = 0): Promise<readonly Operation[]> {
  const lived = (path: string, note: (all: Acknowledged) => void): ReturnType<typeof live> =>
    live(path, row.life, { acknowledge: note, ...(failing > 0 && { refused: () => undefined }) }, start.before);
  const { synchronous } = row;
  const work = synchronous === undefined ? lived : weakly(synchronous, lived);
  return place.record(start.files, work, failing > 0 ? 'fail' : 'count', failing);
}

const counted = (operations: readonly Operation[]): readonly Operation[] =>
  operations.filter(({ kind }) => kind !== 'note' && kind !== 'create');

function nameOf(operations: readonly Operation[], number: number): string {
  const { kind, path, offset } = operations[number - 1]!;
  return `${kind} ${String(number)} of ${String(operations.length)} (${path.split('/').at(-1)!} at ${String(offset)})`;
}
