import Database from 'better-sqlite3';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import {
  exportLines,
  FileInTheWay,
  isUnknown,
  LogFileError,
  LogUnavailable,
  LogUnreadable,
  memoryLog,
  openLogFile,
  openSqliteLog,
  writeLines,
  type EventLog,
  type LogFile,
  type LogReader,
  type RowSource,
} from '../../src/events/index.ts';
import { activated, event, eventsOf, folder, snapshot } from './samples.ts';

const options = { package: '0.1.0' };

/** Three batches, two state hashes, and an account that is mentioned where it should not be. */
function sample(): EventLog & RowSource {
  const log = memoryLog({ salt: 'salt' });
  log.append([event(activated('ann')), event(snapshot('ann', '18446744073709551615'), 1)]);
  const reason = 'the session of ann ended; annabel is somebody else than ann';
  log.append([event({ type: 'snapshot.failed', data: { account: 'ann', epoch: 1, reason, retryAfterMs: null } })]);
  log.append(eventsOf(2));
  log.mark(1, 'hash-1');
  log.mark(5, 'hash-5');
  return log;
}

function fileOf(lines: Iterable<string>): LogFile {
  const path = join(folder(), 'log.jsonl');
  writeLines(path, lines);
  return openLogFile(path);
}

const linesOf = (log: EventLog & RowSource = sample(), redactKey?: string): string[] => [
  ...exportLines(log, redactKey === undefined ? options : { ...options, redactKey }),
];

it('a log goes to a file and comes back the same: events, links and state hashes', () => {
  const log = sample();
  const file = fileOf(linesOf(log));
  expect([...file.read()]).toEqual([...log.read()]);
  expect([...file.marks()]).toEqual([...log.marks()]);
  expect([file.head, file.verify()]).toEqual([log.head, log.verify()]);
  expect([...file.read(4)].map(({ position }) => position)).toEqual([4, 5]);
});

it('a log on disk writes the same file as its twin in memory', async () => {
  const log = await openSqliteLog(join(folder(), 'log.db'));
  const twin = memoryLog({ salt: log.salt });
  for (const batch of [[event(snapshot('ann', '9'))], eventsOf(3)]) {
    log.append(batch);
    twin.append(batch);
  }
  expect(linesOf(log)).toEqual(linesOf(twin));
  log.close();
});

it('the file is for the owner alone, and in place of the one before', () => {
  const { path } = fileOf(linesOf());
  const short = '{"dacapoLog":1}';
  writeLines(path, [short]);
  expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([0o600, `${short}\n`]);
});

it('an export that fails leaves the file that was there, and nothing beside it', () => {
  const { path } = fileOf(['{"dacapoLog":1,"package":"0","rules":"1"}']);
  const failing = function* (): Generator<string> {
    yield '{"dacapoLog":1,"half":1}';
    throw new LogUnreadable('broken');
  };
  expect(() => writeLines(path, failing())).toThrow('broken');
  expect(openLogFile(path).header.package).toBe('0');
  expect(readdirSync(dirname(path))).toEqual(['log.jsonl']);
});

it('only an older file of its kind is replaced: a slip of the pen must not cost a log or a document', async () => {
  const into = folder();
  const at = (name: string): string => join(into, name);
  (await openSqliteLog(at('log.sqlite'))).close();
  writeFileSync(at('notes.md'), 'notes');
  writeFileSync(at('package.json'), '{"name":"dacapo"}');
  writeFileSync(at('new.partial'), 'a document');
  writeFileSync(at('lock'), '');
  mkdirSync(at('taken'));
  symlinkSync(fileOf(linesOf()).path, at('link'));
  const there = readdirSync(into).sort();
  const before = readFileSync(at('log.sqlite'));
  for (const name of ['log.sqlite', 'notes.md', 'package.json', 'taken', 'link', 'new', 'lock'])
    expect(() => writeLines(at(name), linesOf()), name).toThrow(FileInTheWay);
  expect([readdirSync(into).sort(), readFileSync(at('log.sqlite'))]).toEqual([there, before]);
  for (const lines of [['a'], ['a']]) writeLines(at('short'), lines);
  expect(() => writeLines(at('short'), [])).toThrow(FileInTheWay);
  // Those that were killed left these.
  for (const left of ['', `${String(linesOf()[0])}\n{"half`]) {
    writeFileSync(at('export.partial'), left);
    writeLines(at('export'), linesOf());
  }
});

it('a part of a log ends with a whole batch, and what comes after it need not hold', async () => {
  const log = await openSqliteLog(join(folder(), 'log.db'));
  const twin = memoryLog({ salt: log.salt });
  for (const batch of [eventsOf(3), eventsOf(3), eventsOf(3), eventsOf(3)]) {
    log.append(batch);
    twin.append(batch);
  }
  const db = new Database(log.path);
  db.exec('update events set at = at + 1 where position = 8');
  db.close();
  const files = [0, 5, 6, 7].map((until) => fileOf(exportLines(log, { ...options, until })));
  expect(files.map((file) => [file.header.head, file.verify().head, file.verify().broken])).toEqual(
    [0, 3, 6, 6].map((head) => [head, head, null]),
  );
  expect(() => [...exportLines(log, { ...options, until: 9 })]).toThrow(/position 7/);
  expect([...exportLines(twin, { ...options, until: 5 })]).toEqual([...exportLines(log, { ...options, until: 5 })]);
  log.close();
});

it('redacted, no name is left and the chain still holds', () => {
  const log = sample();
  const file = fileOf(linesOf(log, 'key'));
  const text = readFileSync(file.path, 'utf8');
  expect(text).not.toMatch(/\bann\b|salt"/);
  expect(text).toMatch(/the session of acct-[\w-]{22} ended; annabel is somebody else than acct-/);
  expect([file.header.redacted, file.verify()]).toEqual([true, log.verify()]);
});

it('redacted, one account has one pseudonym under one key, and another under another', () => {
  const accounts = (key: string): unknown[] =>
    [...fileOf(linesOf(sample(), key)).read()].flatMap(({ data }) => ('account' in data ? [data.account] : []));
  const [first] = accounts('a');
  expect(accounts('a')).toEqual([first, first, first]);
  expect(accounts('b')).not.toContain(first);
});

it('redacted, only what names somebody is changed', () => {
  const log = sample();
  const named = (value: object): string => JSON.stringify(value).replace(/acct-[\w-]{22}/g, 'ann');
  expect([...fileOf(linesOf(log, 'key')).read()].map(named)).toEqual([...log.read()].map((x) => JSON.stringify(x)));
});

it('redacted, a name is a text and no pattern', () => {
  const log = memoryLog({ salt: 'salt' });
  const data = { account: 'a.b+c', epoch: 1, reason: 'a.b+c is gone, aabbc is not', retryAfterMs: null };
  log.append([event(activated('a.b+c')), event({ type: 'snapshot.failed', data })]);
  const text = linesOf(log, 'key').join('\n');
  expect(text).toMatch(/"acct-[\w-]{22} is gone, aabbc is not"/);
  expect(text).not.toContain('a.b+c');
});

it('redacted, of what only a newer version can read its connector is left', () => {
  const payload = '{"connector":"docs","person":"ann","account":"bob"}';
  const [row] = sample().rows();
  const rows = [
    { ...row!, type: 'route.painted', payload },
    { ...row!, schema: 2, payload },
  ];
  const newer = { salt: 'salt', head: 2, marks: () => [], rows: () => rows } as unknown as LogReader & RowSource;
  const [, ...events] = [...exportLines(newer, { ...options, redactKey: 'key' })];
  expect(events.map((line) => (JSON.parse(line) as { data: unknown }).data)).toEqual(
    Array(2).fill({ connector: 'docs' }),
  );
});

it('a log whose hashes are not salted is not redacted', () => {
  const log = memoryLog();
  log.append(eventsOf(1));
  expect(() => linesOf(log, 'key')).toThrow(/without salt/);
});

it('a payload that was redacted in the store stays away, and the chain holds', async () => {
  const log = await openSqliteLog(join(folder(), 'log.db'));
  log.append([event(activated('ann')), event()]);
  log.redact(1);
  const file = fileOf(linesOf(log));
  expect([...file.read()].map(isUnknown)).toEqual([true, false]);
  expect(file.verify()).toEqual(log.verify());
  log.close();
});

it('a payload beside one that was redacted in the store is held against its hash', async () => {
  const log = await openSqliteLog(join(folder(), 'log.db'));
  log.append([event(activated('ann')), event()]);
  log.redact(1);
  const file = fileOf(linesOf(log).map((line) => line.replace('"poll"', '"wake"')));
  expect(file.verify().broken).toEqual({ position: 2, reason: 'the payload does not match its hash' });
  log.close();
});

it('marks and members of marks that nobody knows are skipped', () => {
  const lines = linesOf();
  lines.splice(2, 0, '{"mark":1,"checkpoint":"future"}', '{"mark":"odd"}', '');
  const file = fileOf(lines.map((line) => line.replace('"stateHash"', '"more":1,"stateHash"')));
  expect([[...file.read()].length, file.verify().broken]).toEqual([5, null]);
});

it('a file written by hand needs no chain', () => {
  const events = [...sample().read()].map((recorded) => JSON.stringify(recorded));
  const file = fileOf(['{"dacapoLog":1,"package":"hand","rules":"1"}', ...events]);
  expect([file.head, [...file.read()].length, file.verify().broken]).toEqual([5, 5, null]);
});

it.each([
  ['nothing', () => [], 1, 'the file is empty'],
  ['another file', () => ['{"name":"dacapo"}'], 1, 'not the header of a log file'],
  ['a newer file', () => ['{"dacapoLog":2}'], 1, 'log file version 2, known up to 1; upgrade'],
  ['no JSON', (lines: string[]) => lines.with(3, '{"position":'), 4, 'not JSON'],
  ['a gap', (lines: string[]) => lines.toSpliced(1, 1), 3, 'position 2 where 1 comes next'],
  [
    'a bad event',
    (lines: string[]) => lines.with(1, lines[1]!.replace('"epoch":1', '"epoch":0')),
    2,
    'bad event at data.epoch',
  ],
  ['a bad mark', (lines: string[]) => lines.with(2, '{"mark":1,"link":"x"}'), 3, 'bad mark at link'],
  ['an event without a brain', (lines: string[]) => lines.with(1, '7'), 2, 'bad event'],
  [
    'depth',
    (lines: string[]) =>
      lines.with(
        1,
        lines[1]!
          .replace('"data":{', `"data":{"a":${'['.repeat(9_999)}${']'.repeat(9_999)},`)
          .replace('account.activated', 'account.deep'),
      ),
    2,
    'nested too deep',
  ],
])('%s is refused with the line and what to do', (_what, edit, line, reason) => {
  const path = join(folder(), 'log.jsonl');
  writeFileSync(path, edit(linesOf()).join('\n'));
  const open = (): unknown => [...openLogFile(path).read()];
  expect(open).toThrow(expect.objectContaining({ constructor: LogFileError, line }));
  expect(open).toThrow(reason);
});

it('a line that is no text, or too long, is refused with its number', () => {
  const path = join(folder(), 'log.jsonl');
  const lines = linesOf();
  writeFileSync(path, Buffer.concat([Buffer.from(lines.slice(0, 5).join('\n')), Buffer.from([0x0a, 0xff, 0x0a])]));
  const read = openLogFile(path).read()[Symbol.iterator]();
  // What lies before it is told first.
  expect([read.next().value?.position, read.next().value?.position]).toEqual([1, 2]);
  expect(() => read.next()).toThrow(/line 6: not UTF-8/);
  writeFileSync(path, Buffer.concat([Buffer.from(`${lines[0]}\n`), Buffer.from([0xff])]));
  expect(() => [...openLogFile(path).read()]).toThrow(/line 2: not UTF-8/);
  writeFileSync(path, `${lines[0]}\n${'x'.repeat(9 * 1024 * 1024)}`);
  expect(() => [...openLogFile(path).read()]).toThrow(/line 2: longer than 8388608 bytes/);
});

it('a file that is not there is unavailable', () => {
  expect(() => openLogFile(join(folder(), 'none.jsonl'))).toThrow(LogUnavailable);
});

it('a file cut off after any line tells so, and gives only whole batches before', () => {
  const lines = linesOf();
  const wholes = lines.slice(1, -1).map((_, index) => {
    const file = fileOf(lines.slice(0, index + 1));
    expect(file.verify().broken?.reason).toMatch(/ends/);
    return file.verify().head;
  });
  expect([...new Set(wholes)]).toEqual([0, 2, 3]);
});

it('a file with any byte changed is refused, or reads as before', () => {
  const log = sample();
  const file = fileOf(linesOf(log));
  const bytes = readFileSync(file.path);
  const original = JSON.stringify([...log.read()]);
  let refused = 0;
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes);
    changed[index]! ^= 1;
    writeFileSync(file.path, changed);
    try {
      expect(JSON.stringify([...openLogFile(file.path).read()])).toBe(original);
    } catch (error) {
      if (!(error instanceof LogUnreadable)) throw error;
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(bytes.length * 0.8);
});
