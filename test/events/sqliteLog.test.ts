import Database from 'better-sqlite3';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { GENESIS, headerOf, hashPayload, linkOf } from '../../src/events/chain.ts';
import {
  BrokenChain,
  isUnknown,
  LogConflict,
  LogUnavailable,
  LogUnreadable,
  memoryLog,
  openSqliteLog,
  openSqliteLogReadOnly,
  type SqliteLog,
} from '../../src/events/index.ts';
import { logError } from '../../src/events/logError.ts';
import { openDatabase, prepareAll } from '../../src/events/sqliteConnection.ts';
import { sqlTexts } from '../../src/events/sqlTexts.gen.ts';
import { migrate } from '../../src/events/sqliteMigrate.ts';
import type { StoredRow } from '../../src/events/sqliteSchema.ts';
import { verifiedRows } from '../../src/events/verifiedRows.ts';
import { migrations } from '../../src/events/sqliteMigrations.ts';
import { assertSqliteVersion, sharedFileSystem } from '../../src/events/storeFile.ts';
import { forge } from './forge.ts';
import { logContract } from './logContract.ts';
import { activated, event, eventsOf, folder, named, snapshot } from './samples.ts';

logContract('the log on SQLite', () => opened());

async function opened(path = join(folder(), 'log.db')): Promise<SqliteLog> {
  const log = await openSqliteLog(path);
  onTestFinished(() => log.close());
  return log;
}

/** A closed log of two batches, the first of three events. */
async function written(): Promise<string> {
  const log = await opened();
  log.append([event(activated('ann')), event(snapshot('ann', '7'), 1), named('third')]);
  log.append([named('fourth')]);
  log.close();
  return log.path;
}

function change(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

it('every open syncs every commit, not only the one that made the file', async () => {
  const path = await written();
  for (let open = 0; open < 2; open++) {
    const log = await opened(path);
    expect(log.settings()).toMatchObject({ journalMode: 'wal', synchronous: 2 });
    log.close();
  }
});

it('what was closed is there again, and goes on without gaps', async () => {
  const path = await written();
  const log = await opened(path);
  expect([log.head, log.append(eventsOf(1))[0]?.position, log.verify().broken]).toEqual([4, 5, null]);
});

it('a file that was killed between WAL mode and its first table is a new log', async () => {
  const path = join(folder(), 'log.db');
  change(path, 'pragma journal_mode = wal');
  const log = await opened(path);
  expect([statSync(path).size > 0, log.head, log.append(eventsOf(1))[0]?.position]).toEqual([true, 0, 1]);
});

/** A database as a kill in the middle of a transaction leaves it: with a journal that has to be rolled back. */
function interrupted(path: string, made: string, size?: number): readonly [Buffer, Buffer] {
  const db = new Database(path);
  db.exec(`${made}; pragma cache_size = 1; begin; create table half (a)`);
  db.exec(
    'create table more as with recursive n(i) as (select 1 union all select i + 1 from n limit 5000) select i from n',
  );
  const left = [readFileSync(path).subarray(0, size), readFileSync(`${path}-journal`)] as const;
  db.exec('rollback');
  db.close();
  writeFileSync(path, left[0]);
  writeFileSync(`${path}-journal`, left[1]);
  return left;
}

it('a journal left by a first start that was killed is rolled back', async () => {
  const path = join(folder(), 'log.db');
  interrupted(path, 'pragma user_version = 0', 4_096);
  const log = await opened(path);
  expect([log.head, log.append(eventsOf(1))[0]?.position]).toEqual([0, 1]);
  expect([existsSync(`${path}-journal`), hasTable(path, 'more')]).toEqual([false, false]);
});

it.each([
  ['another program', 'create table theirs (a)', /a database of another program/],
  ['a newer version', 'pragma application_id = 0x4463706f; pragma user_version = 99', /newer version \(format 99/],
])('a journal of %s is left as it is', async (_, made, message) => {
  const path = join(folder(), 'log.db');
  const left = interrupted(path, made);
  await expect(opened(path)).rejects.toThrow(message);
  expect([readFileSync(path), readFileSync(`${path}-journal`)]).toEqual(left);
});

it('a log that another program is reading takes nothing until its WAL is empty', async () => {
  const path = await written();
  const log = await opened(path);
  const reader = new Database(path, { readonly: true });
  const reading = reader.prepare('select * from events').iterate();
  reading.next();
  log.append(eventsOf(2));
  log.close();
  await expect(opened(path)).rejects.toThrow(/another program is reading .*: wait until it is done, then try again/);
  reading.return?.();
  reader.close();
  expect((await opened(path)).head).toBe(6);
});

/** The next commit reaches the file and says that it failed, as one may whose sync failed. */
function failNextCommit(): void {
  const db = new Database(':memory:');
  const statements = Object.getPrototypeOf(db.prepare('commit')) as Database.Statement;
  db.close();
  const { run } = statements;
  onTestFinished(() => void (statements.run = run));
  statements.run = function (this: Database.Statement, ...parameters) {
    const result = run.apply(this, parameters);
    if (this.source !== 'commit') return result;
    statements.run = run;
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
  };
}

it('a batch whose commit failed is not there, though it reached the file, and may be appended again', async () => {
  const log = await opened();
  log.append(eventsOf(1));
  const batch = eventsOf(2);
  failNextCommit();
  expect(() => log.append(batch)).toThrow(LogUnavailable);
  expect([log.head, [...log.read()].length]).toEqual([1, 1]);
  expect(log.append([...eventsOf(1), ...batch]).map(({ position }) => position)).toEqual([2, 3, 4]);
  expect(log.verify()).toMatchObject({ head: 4, batches: 2, broken: null });
});

it('a log that ends elsewhere when it is opened anew is refused', async () => {
  const log = await opened();
  log.append(eventsOf(1));
  log.append(eventsOf(1));
  failNextCommit();
  expect(() => log.append(eventsOf(2))).toThrow(LogUnavailable);
  change(log.path, 'delete from events where position > 1');
  expect(() => log.append(eventsOf(1))).toThrow(/position 2: the log ends at 1 now/);
});

it('what an older version refuses a log by stands in the file itself before the first event', async () => {
  const { path } = await opened();
  const header = readFileSync(path);
  expect([header.readUInt32BE(68), header.readUInt32BE(60)]).toEqual([0x4463706f, 1]);
});

function hasTable(path: string, name: string): boolean {
  const db = new Database(path, { readonly: true });
  const found = db.prepare('select 1 from sqlite_master where name = ?').get(name);
  db.close();
  return found !== undefined;
}

it.each([
  ['a table that is gone', 'drop table marks', LogUnreadable],
  [
    'a column that is spelled otherwise',
    `pragma writable_schema = on; update sqlite_master set sql = replace(sql, '"position"', '"Position"')`,
    null,
  ],
])('%s is unreadable or makes no difference', async (_, sql, error) => {
  const path = await written();
  const db = new Database(path);
  db.unsafeMode();
  db.exec(sql);
  db.close();
  if (error !== null) return expect(opened(path)).rejects.toThrow(error);
  const log = await opened(path);
  expect([log.head, [...log.read()].length, log.verify().broken]).toEqual([4, 4, null]);
});

it('has the same links as a log in memory with the same salt', async () => {
  const log = await opened();
  const twin = memoryLog({ salt: log.salt });
  for (const batch of [eventsOf(3), [event(snapshot('ann', '8'))], eventsOf(2)]) {
    log.append(batch);
    twin.append(batch);
  }
  expect([...log.rows()]).toEqual([...twin.rows()]);
});

it.each([
  ['payload', `update events set payload = replace(payload, 'ann', 'bob') where position = 2`, 1],
  ['header', `update events set at = at + 1 where position = 2`, 1],
  ['id', `update events set id = 'other' where position = 3`, 1],
  ['cause', `update events set cause = null where position = 2`, 1],
  ['type', `update events set type = type + 1 where position = 1`, 1],
  ['link', `update events set link = replace(link, substr(link, 1, 1), 'x') where position = 3`, 1],
  ['link of the last batch', `update events set link = upper(link) || '0' where position = 4`, 4],
  ['missing row', `delete from events where position = 2`, 2],
  ['missing link', `update events set link = null where position = 3`, 1],
  ['word', `update words set text = 'account.x' where text = 'account.activated'`, 1],
  ['salt', `update origin set salt = 'f' || salt`, 1],
])('a changed %s is found, and is not read', async (_what, sql, position) => {
  const path = await written();
  change(path, sql);
  const log = await openSqliteLogReadOnly(path);
  expect(log.verify().broken?.position).toBe(position);
  expect(() => [...log.read()]).toThrow(BrokenChain);
  log.close();
});

it('a chain that does not hold at its end is refused at open, and the file is kept', async () => {
  const path = await written();
  change(path, `update events set at = at + 1 where position = 2`);
  await expect(openSqliteLog(path)).rejects.toThrow(/position 1: the batch does not match its link; restore a backup/);
  change(path, `update events set at = at - 1 where position = 2`);
  expect((await opened(path)).head).toBe(4);
});

it('a chain that broke long ago is found by whoever reads that far, and opening does not wait for it', async () => {
  const log = await opened();
  for (const count of [3, 4_000, 4_000]) log.append(eventsOf(count));
  log.close();
  change(log.path, `delete from segments; update events set at = at + 1 where position = 2`);
  const again = await opened(log.path);
  expect([...again.read(4)]).toHaveLength(8_000);
  expect(() => [...again.read(3)]).toThrow(BrokenChain);
  expect(again.verify().broken?.position).toBe(1);
});

it('a damaged file is refused at open', async () => {
  const log = await opened();
  log.append(eventsOf(500));
  log.close();
  const bytes = readFileSync(log.path);
  bytes.fill(0xa5, bytes.length / 2);
  writeFileSync(log.path, bytes);
  await expect(openSqliteLog(log.path)).rejects.toThrow(LogUnreadable);
  expect(readFileSync(log.path).equals(bytes)).toBe(true);
});

it('an index that has an id otherwise is found by verify', async () => {
  const path = await written();
  const db = new Database(path);
  const index = "select rootpage from sqlite_master where name = 'sqlite_autoindex_events_1'";
  const page = db.prepare<[], number>(index).pluck().get()!;
  db.close();
  const bytes = readFileSync(path);
  bytes.write('thirs', bytes.indexOf('third', (page - 1) * 4_096));
  writeFileSync(path, bytes);
  const log = await opened(path);
  expect([...log.read()].map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  expect(log.verify().broken?.reason).toMatch(/the file is damaged: .*index/);
});

it('a file of a newer format is refused and not touched', async () => {
  const path = await written();
  change(path, 'pragma user_version = 4');
  const before = readFileSync(path);
  await expect(openSqliteLog(path)).rejects.toThrow(/newer version \(format 4, known up to 3\): upgrade/);
  expect(readFileSync(path).equals(before)).toBe(true);
});

it.each([
  ['a database of another program', (path: string) => change(path, 'create table mine (a)'), /another program/],
  ['no database', (path: string) => writeFileSync(path, 'dear diary, '.repeat(99)), /damaged or no log/],
  ['a folder', (path: string) => mkdirSync(path), /not a plain file/],
  ['a link', (path: string) => symlinkSync('/dev/null', path), /never written through a link/],
  ['a link for a WAL', (path: string) => symlinkSync('/dev/null', `${path}-wal`), /never written through a link/],
])('%s is refused', async (_what, make, reason) => {
  const path = join(folder(), 'log.db');
  make(path);
  await expect(openSqliteLog(path)).rejects.toThrow(reason);
});

it('a folder where everybody may write is refused', async () => {
  const path = folder();
  chmodSync(path, 0o777);
  await expect(openSqliteLog(join(path, 'log.db'))).rejects.toThrow(/chmod 700/);
});

it('file and folder are for the owner alone', async () => {
  const log = await opened(join(folder(), 'state', 'log.db'));
  log.append(eventsOf(1));
  const files = ['', '-wal', '-shm', '.lock'].map((suffix) => log.path + suffix);
  const modes = [...files, dirname(log.path)].map((path) => statSync(path).mode & 0o777);
  expect(modes.map((mode) => mode.toString(8))).toEqual(['600', '600', '600', '600', '700']);
});

it('a file that others might read is for its owner alone once it was opened', async () => {
  const path = await written();
  for (const suffix of ['', '.lock']) chmodSync(path + suffix, 0o644);
  await opened(path);
  expect(['', '.lock'].map((suffix) => statSync(path + suffix).mode & 0o777)).toEqual([0o600, 0o600]);
});

it('SQLite older than the WAL fix is refused', () => {
  for (const version of ['3.51.2', '3.9.99', '2.99.99', ''])
    expect(() => assertSqliteVersion(version)).toThrow(LogUnavailable);
  for (const version of ['3.51.3', '3.53.0', '3.100.0', '4.0.0']) assertSqliteVersion(version);
});

it('file systems that machines share are known by number, local ones are not among them', () => {
  expect([0x6969, 0xff534d42, 0x65735546].map(sharedFileSystem)).toEqual(['nfs', 'cifs', 'fuse']);
  expect([0xef53, 0x01021994, 0x58465342, 0x9123683e, 0x794c7630].map(sharedFileSystem)).toEqual(
    Array(5).fill(undefined),
  );
});

it('has one owner, also within a process, and is free when that one closes', async () => {
  const log = await opened();
  await expect(openSqliteLog(log.path)).rejects.toThrow(LogConflict);
  log.append(eventsOf(1));
  log.close();
  expect((await opened(log.path)).head).toBe(1);
});

it('is read beside its owner, and by nobody for writing', async () => {
  const log = await opened();
  log.append(eventsOf(2));
  const reader = await openSqliteLogReadOnly(log.path);
  log.append(eventsOf(1));
  expect([reader.head, [...reader.read(2)].length, reader.verify().broken]).toEqual([3, 2, null]);
  expect('append' in reader).toBe(false);
  reader.close();
});

it('a log that is not there is not made by reading it', async () => {
  const path = join(folder(), 'log.db');
  await expect(openSqliteLogReadOnly(path)).rejects.toThrow(/there is no log/);
  expect(existsSync(path)).toBe(false);
});

it('after closing every use is refused with what to do', async () => {
  const log = await opened();
  log.close();
  log.close();
  expect(() => log.append(eventsOf(1))).toThrow(/was closed: open it again/);
  expect(() => [...log.read()]).toThrow(LogUnavailable);
});

it('a redacted payload is gone from the file, its event is kept unknown, and the chain holds', async () => {
  const log = await opened();
  log.append([event(activated('canary-account')), ...eventsOf(2)]);
  log.redact(1);
  log.redact(1);
  expect([...log.read()][0]).toMatchObject({ unknown: 'redacted', type: 'account.activated', data: {} });
  expect(log.verify().broken).toBeNull();
  expect(['', '-wal'].some((suffix) => readFileSync(log.path + suffix).includes('canary-account'))).toBe(false);
});

it('an event of a newer version is kept as it is, and the log goes on behind it', async () => {
  const path = await written();
  const data = '{"connector":"docs","colour":"blue"}';
  const db = new Database(path);
  const { salt, link } = db.prepare('select salt, link from origin, events where position = 4').get() as Record<
    string,
    string
  >;
  const header = headerOf('newer', 5, null, 'route.painted', 2, '9', hashPayload(salt!, data));
  db.exec(`insert into words values (90, 'route.painted'), (91, '9')`);
  db.prepare(`insert into events values (5, 'newer', 5, null, 90, 2, 91, ?, null, ?)`).run(
    linkOf(link!, 5, 1, header),
    data,
  );
  db.close();
  const log = await opened(path);
  log.append(eventsOf(1));
  const [kept] = [...log.read(5)];
  expect(kept).toMatchObject({ unknown: 'newer', type: 'route.painted', schema: 2, data: JSON.parse(data) as object });
  expect([isUnknown(kept!), log.head, log.verify().broken]).toEqual([true, 6, null]);
});

it('rest empties the WAL', async () => {
  const log = await opened();
  log.append(eventsOf(50));
  expect([log.rest(), statSync(`${log.path}-wal`).size]).toEqual([false, 0]);
});

/** A log of 3,000 events in batches of 70, sealed as far as it goes, with an unknown and a redacted one among them. */
async function sealed(): Promise<SqliteLog> {
  const log = await opened();
  for (let batch = 0; batch < 43; batch++) log.append([event(snapshot('ann', String(batch))), ...eventsOf(69)]);
  log.redact(8);
  while (log.rest());
  return log;
}

it('sealed events read as their rows do, from any position', async () => {
  const log = await sealed();
  const segments = new Database(log.path, { readonly: true }).prepare('select count(*) from segments').pluck().get();
  const all = [...log.read()];
  expect([segments, all.length, log.verify().broken]).toEqual([4, 3_010, null]);
  change(log.path, 'delete from segments');
  expect([...log.read()]).toEqual(all);
  expect([8, 603, 1_500, 2_999].map((from) => [...log.read(from)].length)).toEqual([3_003, 2_408, 1_511, 12]);
});

const second = 'first = (select min(first) from segments where first > 1)';
it.each([
  `update segmentParts set body = replace(body, '"poll"', '"wake"') where ${second}`,
  `update segmentParts set first = first + 1 where ${second}`,
  `delete from segmentParts where ${second}`,
  `update segments set hash = upper(hash) where ${second}`,
  `update segments set before = link where ${second}`,
  `update segments set last = last + 70 where ${second}`,
  `update segments set first = first + 70 where ${second}`,
])('a segment that does not hold (%s) is passed over, and found by verify', async (damage) => {
  const log = await sealed();
  const before = [...log.read()];
  change(log.path, damage);
  expect([...log.read()]).toEqual(before);
  expect(log.verify().broken?.reason).toMatch(/sealed segment/);
});

it.each([0, 1])('segments of another log, from the one after position %i on, are passed over', async (after) => {
  const [log, other] = [await sealed(), await sealed()];
  const before = [...log.read()];
  const put = (table: string, first: string): string =>
    `delete from ${table} where ${first} > ${String(after)};
     insert into ${table} select * from other.${table} where ${first} > ${String(after)};`;
  change(log.path, `attach '${other.path}' as other; ${put('segments', 'first')} ${put('segmentParts', 'segment')}`);
  expect([...log.read()]).toEqual(before);
  expect(log.verify().broken?.reason).toMatch(/does not match its link|sealed segment/);
});

it('rows that were changed together with their links do not lead into the segment behind them', async () => {
  const log = await sealed();
  const { path, salt } = log;
  const rows = [...log.rows()];
  change(path, 'delete from segmentParts where segment = 1; delete from segments where first = 1');
  const last = new Database(path).prepare<[], number>('select min(first) - 1 from segments').pluck().get()!;
  forge({ path, salt, rows }, 2, '{"reason":"wake"}', last);
  expect(() => [...log.read()]).toThrow(`position ${String(last + 1)}: the batch does not match its link`);
});

it('a batch larger than a segment is sealed in parts, whatever its ids and payloads look like', async () => {
  const log = await opened();
  const reason = '"\\\u2028\ud800é'.repeat(20);
  const odd = event({ type: 'snapshot.failed', data: { account: 'ann', epoch: 1, reason, retryAfterMs: null } });
  log.append([
    { ...odd, id: '"\\' },
    ...Array.from({ length: 1_500 }, (_, index) => event(snapshot('ann', String(index)))),
  ]);
  const before = [...log.read()];
  while (log.rest());
  const parts = new Database(log.path, { readonly: true })
    .prepare('select max(length(body)), count(*) from segmentParts')
    .raw()
    .get();
  expect((parts as number[])[0]).toBeLessThan(128 * 1024);
  expect((parts as number[])[1]).toBeGreaterThan(2);
  expect([[...log.read()], log.verify().broken]).toEqual([before, null]);
});

it('a payload that is redacted leaves its segment too', async () => {
  const log = await opened();
  log.append([event(activated('canary-account')), ...eventsOf(700)]);
  while (log.rest());
  expect(log.redact(1)).toBe(true);
  expect([...log.read()].filter(isUnknown)).toHaveLength(1);
  expect(readFileSync(log.path).includes('canary-account')).toBe(false);
  expect([log.rest(), log.verify().broken]).toEqual([false, null]);
});

it('redacting beside a reader says that the bytes are still there, and the next rest takes them', async () => {
  const log = await opened();
  log.append([event(activated('canary-account')), ...eventsOf(5)]);
  const isThere = (): boolean => ['', '-wal'].some((file) => readFileSync(log.path + file).includes('canary-account'));
  const reader = new Database(log.path, { readonly: true });
  reader.exec('begin; select * from events limit 1');
  expect([log.redact(1), isThere()]).toEqual([false, true]);
  reader.close();
  log.rest();
  expect(isThere()).toBe(false);
});

it('of a log that breaks all that lies before is read, however near', async () => {
  const log = await opened();
  for (let batch = 0; batch < 240; batch++) log.append(eventsOf(1));
  change(log.path, 'update events set at = at + 1 where position = 200');
  const read: number[] = [];
  expect(() => {
    for (const { position } of log.read()) read.push(position);
  }).toThrow(/position 200/);
  expect([read.length, log.verify()]).toEqual([199, expect.objectContaining({ events: 199, head: 199 })]);
});

it('of a log with a page that is lost the rows before it are read', async () => {
  const log = await opened();
  for (let batch = 0; batch < 120; batch++) log.append(eventsOf(1));
  const stored = prepareAll(openDatabase(log.path, 'reader')).eventsFrom.all(1, 120);
  const page = (from: number, limit: number): readonly StoredRow[] => {
    if (from + limit > 100) throw new LogUnreadable('a page is lost');
    return stored.slice(from - 1, from - 1 + limit);
  };
  const words = new Database(log.path).prepare<[number], string>('select text from words where number = ?').pluck();
  const word = (number: number): string => words.get(number)!;
  const told: number[] = [];
  expect(() => {
    for (const run of verifiedRows({ page, word, salt: log.salt }, { position: 0, link: GENESIS }, 120))
      told.push(...run.map(([position]) => position));
  }).toThrow('a page is lost');
  expect(told).toHaveLength(99);
});

it('what is appended behind a segment goes on from its link', async () => {
  const log = await sealed();
  log.append(eventsOf(2));
  expect([...log.read()].map(({ position }) => position)).toEqual(
    Array.from({ length: 3_012 }, (_, index) => index + 1),
  );
});

it('every statement fits the tables', async () => {
  const db = openDatabase(await written(), 'owner');
  expect(Object.keys(prepareAll(db)).length).toBeGreaterThan(20);
  expect(Object.values(sqlTexts).map((sql) => db.prepare(sql).source)).toEqual(Object.values(sqlTexts));
  db.close();
});

it('a module that is missing is no disk that refuses', () => {
  const missing: NodeJS.ErrnoException = new Error('Cannot find module');
  missing.code = 'ERR_MODULE_NOT_FOUND';
  expect(logError(missing, 'log.db')).toBe(missing);
});

it('a row by another program is a conflict, and neither is lost', async () => {
  const log = await opened();
  log.append(eventsOf(1));
  change(
    log.path,
    `insert into events select 2, 'foreign', at, cause, type, schema, rules, link, null, payload from events`,
  );
  expect(() => log.append(eventsOf(1))).toThrow(LogConflict);
  expect(() => log.append(eventsOf(1))).toThrow(/another program wrote/);
  expect(log.head).toBe(1);
});

it('a migration runs after a backup; one that fails leaves the file as it was', async () => {
  const path = await written();
  const db = openDatabase(path, 'owner');
  const failing = { up: () => Promise.reject(new Error('no')) };
  const adding = {
    up: (kysely: { schema: { createTable: Function } }) =>
      kysely.schema.createTable('more').addColumn('a', 'text').execute() as Promise<void>,
  };
  await expect(migrate(db, path, { ...migrations, '9998-more': adding, '9999-no': failing })).rejects.toThrow(
    LogUnreadable,
  );
  expect(db.prepare(`select count(*) from sqlite_master where name = 'more'`).pluck().get()).toBe(0);
  expect(await migrate(db, path, { ...migrations, '9998-more': adding })).toEqual(['9998-more']);
  expect(await migrate(db, path, migrations)).toEqual([]);
  // The one that failed changed nothing, and left no copy; the next one takes another name.
  expect(readdirSync(dirname(path)).filter((name) => name.includes('backup'))).toEqual(['log.db.backup-1']);
  const nothing = { up: () => Promise.resolve() };
  await migrate(db, path, { ...migrations, '9998-more': adding, '9999-nothing': nothing });
  db.close();
  expect([1, 2].map((number) => statSync(`${path}.backup-${number}`).mode & 0o777)).toEqual([0o600, 0o600]);
  expect((await opened(`${path}.backup-1`)).head).toBe(4);
});

const HANDLES = '/proc/self/fd';
it.skipIf(!existsSync(HANDLES))('whoever is refused leaves no open file behind', async () => {
  const handles = (): number => readdirSync(HANDLES).length;
  const outdated = await written();
  change(outdated, "delete from kysely_migration where name >= '0005'");
  const log = await opened();
  log.append(eventsOf(1));
  change(log.path, 'drop table marks');
  const mark = (): void => log.mark(1, 'hash');
  expect(mark).toThrow(LogUnreadable);
  const before = handles();
  for (let attempt = 0; attempt < 5; attempt++) {
    await expect(openSqliteLogReadOnly(outdated)).rejects.toThrow(/older version/);
    expect(mark).toThrow(LogUnreadable);
  }
  expect(handles()).toBe(before);
});
