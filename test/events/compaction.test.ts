/** A compacted log is smaller, and says every word of the one before. */
import Database from 'better-sqlite3';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  exportLines,
  isUnknown,
  LogOutdated,
  LogUnavailable,
  LogUnreadable,
  openSqliteLog,
  openSqliteLogReadOnly,
  type Fact,
  type FactOf,
  type LoggedEvent,
  type LogReader,
  type NewEvent,
  type RowSource,
  type SqliteLog,
} from '../../src/events/index.ts';
import { migrate } from '../../src/events/sqliteMigrate.ts';
import { migrations } from '../../src/events/sqliteMigrations.ts';
import { fold } from '../../src/replay/fold.ts';
import { faultNames, run } from '../../src/simulate/index.ts';
import { openDatabase } from '../../src/events/sqliteConnection.ts';
import { partFrom, UNPACKED_BYTES } from '../../src/events/sqliteSegments.ts';
import { forge } from './forge.ts';
import { activated, event, eventsOf, folder, snapshot } from './samples.ts';

const foldOf = (log: LogReader): string => fold(log).stateHash;
const linesOf = (log: LogReader & RowSource, redactKey?: string): string[] => [
  ...exportLines(log, { package: '0.0.0', ...(redactKey !== undefined && { redactKey }) }),
];

async function opened(path = join(folder(), 'log.db')): Promise<SqliteLog> {
  const log = await openSqliteLog(path);
  onTestFinished(() => log.close());
  return log;
}

function change(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

/** Worlds full of faults, one after the other in one log, with a state hash every 250 events. */
async function stormy(events: number): Promise<SqliteLog> {
  const log = await opened();
  for (let seed = 1; log.head < events; seed++) append(log, await storm(seed, log.head));
  for (const { position } of [...log.read()].filter(({ position: at }) => at % 250 === 0))
    log.mark(position, fold(log, position).stateHash);
  return log;
}

async function storm(seed: number, from: number): Promise<readonly LoggedEvent[]> {
  const { log } = await run({ seed, steps: 200, calm: true, faults: faultNames });
  return log.map((logged) => ({
    ...logged,
    id: `${logged.id}-${String(seed)}`,
    position: logged.position + from,
  }));
}

function append(log: SqliteLog, events: readonly LoggedEvent[]): void {
  const asNew = events.map(({ type, data, id, at, cause }) => ({ type, data, id, at, cause }) as NewEvent);
  for (let at = 0; at < asNew.length; at += 3) log.append(asNew.slice(at, at + 3));
}

/** Polls and snapshots of six connectors that say the same, as an uneventful week has them. */
async function uneventful(): Promise<SqliteLog> {
  const log = await opened();
  for (let batch = 0; batch < 90; batch++)
    log.append(Array.from({ length: 10 }, () => [event(), event(sixConnectors)]).flat());
  return log;
}

const sixConnectors: Fact = ((): Fact => {
  const { data } = snapshot('ann', '7') as FactOf<'snapshot.received'>;
  const names = ['docs', 'mail', 'calendar', 'issues', 'wiki', 'chat'];
  return {
    type: 'snapshot.received',
    data: { ...data, entries: Object.fromEntries(names.map((name) => [name, data.entries['docs']!])) },
  };
})();

it('says the same at every position: events, hashes, chain, exports, state', async () => {
  const log = await stormy(2_500);
  log.redact(17);
  const said = (): unknown => [
    [...log.read()],
    [1, 2, 599, 600, 601, 1_300].map((from) => [...log.read(from)].slice(0, 3)),
    [...log.marks()],
    log.verify(),
    linesOf(log),
    linesOf(log, 'key'),
    fold(log),
  ];
  const before = said();
  const { segments } = log.compact(foldOf);
  expect(segments).toBeGreaterThanOrEqual(3);
  expect(said()).toEqual(before);
  expect(new Database(log.path).prepare('select count(*) from events where payload is not null').pluck().get()).toBe(
    log.head - lastSealed(log.path),
  );
});

const lastSealed = (path: string): number =>
  new Database(path).prepare<[], number>('select max(last) from segments').pluck().get()!;

it('an uneventful log comes down to less than a fifth, and says how far', async () => {
  const log = await uneventful();
  while (log.rest());
  const { bytesBefore, bytesAfter, segments } = log.compact(foldOf);
  expect([statSync(log.path).size, segments]).toEqual([bytesAfter, 10]);
  expect(bytesAfter).toBeLessThan(bytesBefore / 5);
});

it('goes on: it is appended to, read beside its owner, found by id, and compacted again', async () => {
  const log = await uneventful();
  const [third] = [...log.read(3)];
  log.compact(foldOf);
  const again = [event(), event(snapshot('ann', '8'))];
  expect(log.append([...again, third as LoggedEvent]).map(({ position }) => position)).toEqual([1_801, 1_802, 3]);
  for (let batch = 0; batch < 300; batch++) log.append(eventsOf(2));
  const reader = await openSqliteLogReadOnly(log.path);
  expect([[...reader.read()], reader.verify()]).toEqual([[...log.read()], log.verify()]);
  reader.close();
  expect(log.compact(foldOf).segments).toBe(1);
  expect([log.compact(foldOf).segments, log.verify().broken]).toEqual([0, null]);
});

it('opens again with its end checked, which lies in a pack; an older version refuses it by its format', async () => {
  const log = await uneventful();
  expect(log.settings().format).toBe(1);
  log.compact(foldOf);
  log.close();
  const next = await opened(log.path);
  expect([next.head, next.settings().format, next.verify().broken]).toEqual([1_800, 3, null]);
});

it('a migration leaves a compacted log its format', async () => {
  const log = await opened();
  log.append(eventsOf(700));
  log.compact(foldOf);
  log.close();
  const db = openDatabase(log.path, 'owner');
  await migrate(db, log.path, { ...migrations, '9998-nothing': { up: () => Promise.resolve() } });
  expect(db.pragma('user_version', { simple: true })).toBe(3);
  db.close();
});

it('a payload that is redacted leaves its pack, and nothing else does', async () => {
  const log = await opened();
  // So long that the parts of its segment begin elsewhere without it.
  const failed = { account: 'canary-account', epoch: 1, reason: 'timeout '.repeat(32), retryAfterMs: null };
  const canary = event({ type: 'snapshot.failed', data: failed });
  log.append([canary, ...Array.from({ length: 700 }, (_, index) => event(snapshot('ann', String(index))))]);
  for (let batch = 0; batch < 10; batch++) log.append(eventsOf(150));
  expect(log.compact(foldOf).segments).toBe(3);
  const before = [...log.read(2)];
  expect(everythingIn(log.path)).toContain('canary-account');
  log.redact(1);
  expect(everythingIn(log.path)).not.toContain('canary-account');
  expect([...log.read(2)]).toEqual(before);
  expect([...log.read()].filter(isUnknown)).toHaveLength(1);
  // Only what was unpacked for it is packed again, wherever in the log that lies.
  expect(log.compact(foldOf).segments).toBe(1);
  expect([[...log.read(2)], log.verify().broken]).toEqual([before, null]);
  expect(everythingIn(log.path)).not.toContain('canary-account');
});

/** The bytes of the file and its WAL, and what the packs in it say. */
function everythingIn(path: string): string {
  const packs = new Database(path).prepare<[], Buffer>('select packed from segmentParts where packed is not null');
  const files = ['', '-wal'].map((suffix) => readFileSync(path + suffix, 'latin1'));
  return [
    ...files,
    ...packs
      .pluck()
      .all()
      .map((packed) => inflateRawSync(packed).toString()),
  ].join();
}

it('what can not be redacted is said', async () => {
  const log = await uneventful();
  log.compact(foldOf);
  change(log.path, 'delete from segments where first = 1');
  expect(() => {
    log.redact(3);
  }).toThrow(/position 3: its pack is lost/);
});

it.each(['delete from segments where first = 1', 'update segments set last = 2 where first = 1'])(
  'what is redacted leaves a copy that no segment claims, too: %s',
  async (damage) => {
    const log = await opened();
    log.append([event(activated('ann')), ...eventsOf(8), event(activated('canary-account')), ...eventsOf(700)]);
    while (log.rest());
    change(log.path, damage);
    expect([log.redact(10), everythingIn(log.path).includes('canary-account')]).toEqual([true, false]);
    expect([...log.read()].filter(isUnknown).map(({ position }) => position)).toEqual([10]);
  },
);

it('a redaction leaves the segments beside it alone, those that hold and those that do not', async () => {
  const log = await opened();
  for (let batch = 0; batch < 3; batch++) log.append(eventsOf(600));
  log.append(eventsOf(5));
  while (log.rest());
  for (const position of [700, 1_803]) log.redact(position);
  expect([log.verify().broken, [...log.read()].filter(isUnknown).length]).toEqual([null, 2]);
  log.compact(foldOf);
  change(log.path, 'update segmentParts set packed = zeroblob(9) where segment = 1201');
  log.redact(1_804);
  const left = new Database(log.path).prepare('select count(*) from segmentParts where segment = 1201').pluck().get();
  // It is evidence, and nobody can make it anew.
  expect(left).toBeGreaterThan(0);
});

it('a rest that sealed the last segment says that there is no more', async () => {
  const log = await opened();
  for (let batch = 0; batch < 6; batch++) log.append(eventsOf(600));
  expect([log.rest(), log.rest(), log.rest()]).toEqual([true, false, false]);
  for (let batch = 0; batch < 5; batch++) log.append(eventsOf(600));
  expect(log.rest()).toBe(false);
});

it.each(['update segments set before = link where first = 1', 'update events set at = 7 where position = 300'])(
  'what is redacted goes although something else is damaged: %s',
  async (damage) => {
    const log = await opened();
    log.append([event(activated('canary-account')), ...eventsOf(700)]);
    while (log.rest());
    change(log.path, damage);
    expect([log.redact(1), everythingIn(log.path).includes('canary-account')]).toEqual([true, false]);
  },
);

it('packs all segments there are, however many one rest would seal, and leaves its format to a log without any', async () => {
  const log = await opened();
  expect([log.compact(foldOf).segments, log.settings().format]).toEqual([0, 1]);
  for (let batch = 0; batch < 7; batch++) log.append(eventsOf(600));
  expect([log.compact(foldOf).segments, log.settings().format]).toEqual([7, 3]);
});

it('what unpacks to more than a part can be is damage, and does not fill the memory', () => {
  const packed = deflateRawSync(Buffer.alloc(UNPACKED_BYTES + 1));
  expect(partFrom({ first: 1, body: '', packed })).toEqual({ first: 1, body: '' });
});

it('a segment whose head was lost is passed over, and what is left of it is in nobody’s way', async () => {
  const log = await uneventful();
  while (log.rest());
  const before = linesOf(log);
  change(log.path, 'delete from segments where first = 1 or first = (select max(first) from segments)');
  const all = new Database(log.path).prepare('select count(*) from segments').pluck().get();
  expect([log.compact(foldOf).segments, linesOf(log)]).toEqual([Number(all) + 1, before]);
});

it('a full disk is no reason to lose the packs, nor the log', async () => {
  const log = await uneventful();
  const before = linesOf(log);
  const full = new LogUnavailable('the disk is full');
  const exec = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: unknown) {
    throw full;
  });
  expect(() => log.compact(foldOf)).toThrow(/is packed, but not smaller yet \(the disk is full\): free space/);
  exec.mockRestore();
  expect(linesOf(log)).toEqual(before);
  const { segments, bytesBefore, bytesAfter } = log.compact(foldOf);
  expect([segments, bytesAfter < bytesBefore / 2]).toEqual([0, true]);
});

it('beside a reader it says that the file is not small yet', async () => {
  const log = await uneventful();
  const reader = new Database(log.path, { readonly: true });
  reader.exec('begin; select * from events limit 1');
  const { settled, bytesAfter, bytesBefore } = log.compact(foldOf);
  expect([settled, bytesAfter > bytesBefore / 2]).toEqual([false, true]);
  reader.close();
  expect(log.compact(foldOf).settled).toBe(true);
});

it('a log that does not hold is evidence, and stays as it was to the last byte', async () => {
  const log = await opened();
  log.append(eventsOf(700));
  log.append(eventsOf(700));
  // What holds could be sealed.
  change(log.path, 'update events set at = at + 1 where position = 900');
  const bytes = (): readonly string[] => ['', '-wal'].map((file) => readFileSync(log.path + file, 'hex'));
  const before = bytes();
  expect(() => log.compact(foldOf)).toThrow(/position 701: the batch does not match its link/);
  expect(bytes()).toEqual(before);
});

it('a fold that comes to another state abandons it: the file says what it said', async () => {
  const log = await uneventful();
  const before = [linesOf(log), log.settings().format];
  let asked = 0;
  expect(() => log.compact(() => String(asked++))).toThrow(/would say something else once compacted: it is as before/);
  expect(() =>
    log.compact(() => {
      if (asked++ % 2 === 1) throw new Error('the fold stumbles');
      return '';
    }),
  ).toThrow('the fold stumbles');
  expect([linesOf(log), log.settings().format]).toEqual(before);
  const rows = new Database(log.path).prepare('select count(*) from events where payload is null').pluck().get();
  expect([rows, log.verify().broken, log.append(eventsOf(1))[0]?.position]).toEqual([0, null, 1_801]);
});

it('a log that does not hold is not compacted', async () => {
  const log = await uneventful();
  while (log.rest());
  change(log.path, `update events set payload = replace(payload, 'poll', 'wake') where position = 5`);
  expect(() => log.compact(foldOf)).toThrow(LogUnreadable);
  expect(new Database(log.path).prepare('select count(*) from events where payload is null').pluck().get()).toBe(0);
});

it('a payload that its copy can not give back word for word keeps its segment', async () => {
  const log = await uneventful();
  // As another writer would have spelled it: the chain binds these bytes, and JSON read and written again has others.
  const spaced = await rewritten(log, 5, '{ "reason": "poll" }');
  while (spaced.rest());
  const { segments } = spaced.compact(foldOf);
  const all = new Database(spaced.path).prepare('select count(*) from segments').pluck().get();
  expect([segments > 3, segments]).toEqual([true, Number(all) - 1]);
  expect([spaced.verify().broken, [...spaced.rows()][4]!.payload]).toEqual([null, '{ "reason": "poll" }']);
});

/** The log with another text at one position, and nothing sealed. */
async function rewritten(log: SqliteLog, position: number, payload: string): Promise<SqliteLog> {
  const { path, salt } = log;
  const rows = [...log.rows()];
  log.close();
  forge({ path, salt, rows }, position, payload);
  change(path, 'delete from segments; delete from segmentParts');
  return opened(path);
}

it.each([
  `update segmentParts set packed = zeroblob(100) where first = 1`,
  `update segmentParts set packed = substr(packed, 1, length(packed) - 9) where first = 1`,
  `update segmentParts set packed = null where first = 1`,
  `delete from segmentParts where first = 1`,
  `delete from segments where first = 1`,
  `update segments set hash = upper(hash) where first = 1`,
])('a pack that does not hold (%s) is never read over', async (damage) => {
  const log = await uneventful();
  log.compact(foldOf);
  log.close();
  change(log.path, damage);
  const reader = await openSqliteLogReadOnly(log.path);
  expect(() => [...reader.read()]).toThrow(LogUnreadable);
  expect(reader.verify().broken?.position).toBe(1);
  expect([...reader.read(1_201)]).toHaveLength(600);
  reader.close();
  const owner = await openSqliteLog(log.path).catch((error: unknown) => error);
  expect(owner).toBeInstanceOf(LogUnreadable);
});

it('of a pack that does not hold nothing is written back, and nothing redacted', async () => {
  const log = await uneventful();
  log.compact(foldOf);
  const packed = (): unknown =>
    new Database(log.path).prepare('select count(*) from events where payload is null and payloadHash is null').get();
  const before = packed();
  const second = '(select packed from segmentParts where segment > 1 order by first limit 1)';
  change(log.path, `update segmentParts set packed = ${second} where first = 1`);
  expect(() => log.redact(3)).toThrow(/position 1: the pack is damaged/);
  expect(packed()).toEqual(before);
});

it('a log of an older version is not taken for a damaged one by a reader, who can not bring it up to date', async () => {
  const log = await opened();
  log.append(eventsOf(1));
  log.close();
  change(log.path, `delete from kysely_migration where name >= '0004'; alter table segmentParts drop column packed`);
  await expect(openSqliteLogReadOnly(log.path)).rejects.toThrow(LogOutdated);
  const owner = await opened(log.path);
  expect([owner.head, owner.verify().broken]).toEqual([1, null]);
});

it('segments in the form of before are dropped and made anew, and a pack in that form is not lost but refused', async () => {
  const log = await uneventful();
  const read = [...log.read()];
  log.close();
  const older = `delete from kysely_migration where name = '0005-columns'; update segmentParts set body = '[[],[]]'`;
  change(log.path, older);
  const owner = await opened(log.path);
  while (owner.rest());
  expect([[...owner.read()], owner.verify().broken]).toEqual([read, null]);
  owner.compact(foldOf);
  owner.close();
  change(log.path, older);
  const there = readdirSync(dirname(log.path));
  await expect(openSqliteLog(log.path)).rejects.toThrow(
    /compacted before that was released.*the version that wrote it/,
  );
  // Whoever tries again and again must not fill the disk with copies.
  expect(readdirSync(dirname(log.path))).toEqual(there);
});
