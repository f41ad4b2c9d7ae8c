import Database from 'better-sqlite3';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EXIT, verdictOf } from '../../src/cli/exit.ts';
import { pathsOf } from '../../src/cli/paths.ts';
import { exportLines, memoryLog, openSqliteLog, writeLines, type Fact, type NewEvent } from '../../src/events/index.ts';
import { replay } from '../../src/replay/index.ts';
import { run } from '../support/commandLine.ts';
import { documentOf } from '../support/documents.ts';

// Every command is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'dacapo-replay-'));
const file = (name: string): string => join(folder, `${name}.jsonl`);
const facts: readonly Fact[] = [
  { type: 'engine.started', data: { boot: 'b', package: '1', rules: '1' } },
  {
    type: 'connector.installed',
    data: {
      connector: 'everything',
      release: { version: '1.0.0', digest: 'd' },
      kind: 'remote',
      authorization: 'api_key',
      enabled: true,
      incompatible: null,
    },
  },
  { type: 'account.activated', data: { account: 'ann', epoch: 2 } },
];

/** A log of the facts above, whose mark after the last one holds `hash`, or the true one. */
function logOf(hash?: string) {
  const log = memoryLog({ salt: 'a salt of a test' });
  log.append(facts.map((fact, index) => ({ ...fact, id: `e${String(index)}`, at: 1000 + index, cause: null })));
  log.mark(log.head, hash ?? replay(log).stateHash);
  return log;
}

function longer() {
  const log = logOf();
  log.append([{ type: 'clock.ticked', data: { reason: 'poll' }, id: 'more', at: 2000, cause: null }]);
  return log;
}

beforeAll(() => {
  writeLines(file('plain'), exportLines(logOf(), { package: '1' }));
  writeLines(file('redacted'), exportLines(logOf(), { package: '1', redactKey: 'a key of a test' }));
  writeLines(file('diverging'), exportLines(logOf('0'.repeat(64)), { package: '1' }));
  writeFileSync(file('changed'), readFileSync(file('plain'), 'utf8').replace('"at":1001', '"at":1002'));
  writeFileSync(file('foreign'), '{"hello":"world"}\n');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a log replays to the hash it was recorded with, plain and redacted alike', async () => {
  const { stateHash } = replay(logOf());
  for (const name of ['plain', 'redacted']) {
    const { code, stdout } = await run(['replay', file(name), '--json']);
    expect([code, documentOf('replay', stdout)]).toEqual([
      EXIT.ok,
      expect.objectContaining({ position: 3, stateHash, divergence: null }),
    ]);
  }
});

test('a person gets the transcript', async () => {
  const { code, stdout } = await run(['replay', file('plain'), '--until', '2']);
  expect(code).toBe(EXIT.ok);
  expect(stdout).toMatch(/^dacapo transcript[^]*everything 1\.0\.0 was reported as installed[^]*after 2,/);
});

test('a state that is another one now is a divergence with its position: 3', async () => {
  const played = await run(['replay', file('diverging'), '--json']);
  expect([played.code, documentOf('replay', played.stdout)]).toEqual([
    EXIT.problems,
    expect.objectContaining({ divergence: expect.objectContaining({ position: 3 }) as unknown }),
  ]);
  const diff = await run(['diff', file('diverging'), '--json']);
  expect([diff.code, documentOf('diff', diff.stdout)]).toEqual([
    EXIT.problems,
    expect.objectContaining({ firstDifference: expect.objectContaining({ position: 3 }) as unknown }),
  ]);
  expect((await run(['diff', file('plain')])).code).toBe(EXIT.ok);
});

test('of a log that breaks everything before is told, to the last event, and taken along', async () => {
  const state = join(folder, 'broken');
  const path = pathsOf({}, state).log;
  mkdirSync(state, { recursive: true });
  const log = await openSqliteLog(path);
  const facts = [...longer().read()].map(
    ({ id, at, cause, type, data }) => ({ id, at, cause, type, data }) as NewEvent,
  );
  for (const batch of [facts.slice(0, 1), facts.slice(1, 3), facts.slice(3)]) log.append(batch);
  log.close();
  const db = new Database(path);
  db.exec('update events set at = at + 1 where position = 4');
  db.close();
  expect((await run(['log', 'verify', '--state', state])).stdout).toMatch(/position 4/);
  const whole = await run(['log', 'export', file('broken'), '--state', state]);
  expect([whole.code, existsSync(file('broken'))]).toEqual([EXIT.problems, false]);
  const { code, stdout } = await run(['log', 'export', file('broken'), '--until', '3', '--state', state, '--json']);
  expect([code, documentOf('log-export', stdout)]).toMatchObject([EXIT.ok, { head: 3 }]);
  const less = await run(['log', 'export', file('less'), '--until', '2', '--state', state, '--json']);
  expect([less.code, documentOf('log-export', less.stdout)]).toMatchObject([EXIT.ok, { head: 1 }]);
  const cut = readFileSync(file('broken'), 'utf8').replace('"at":1001', '"at":1002');
  writeFileSync(file('broken'), cut);
  expect((await run(['log', 'verify', file('broken')])).stdout).toMatch(/position 2/);
  const told = await run(['replay', file('broken'), '--until', '1', '--json']);
  expect([told.code, documentOf('replay', told.stdout)]).toMatchObject([EXIT.ok, { position: 1 }]);
  const why = await run(['why', 'everything', '--log', file('broken'), '--at', '1', '--json']);
  expect([why.code, documentOf('why', why.stdout)]).toMatchObject([EXIT.ok, { reason: 'not-installed' }]);
});

test('an export replaces an older one and nothing else, and a pipe is no log', async () => {
  const state = join(folder, 'exported');
  const path = pathsOf({}, state).log;
  mkdirSync(state, { recursive: true });
  (await openSqliteLog(path)).close();
  for (const expected of [EXIT.ok, EXIT.ok])
    expect((await run(['log', 'export', file('twice'), '--state', state])).code).toBe(expected);
  const onto = await run(['log', 'export', path, '--state', state]);
  expect([onto.code, onto.stderr]).toEqual([
    EXIT.usage,
    expect.stringMatching(/is there already.*next: name a new file/s),
  ]);
  expect((await run(['log', 'verify', '--state', state])).code).toBe(EXIT.ok);
  for (const name of ['', folder, '/dev/null']) {
    const { code, stderr } = await run(['log', 'export', name, '--state', state]);
    expect([code, stderr]).toEqual([EXIT.usage, expect.stringMatching(/next: name a file/)]);
  }
  const piped = await run(['replay', '/dev/stdin']);
  expect([piped.code, piped.stderr]).toEqual([EXIT.usage, expect.stringMatching(/no regular file/)]);
});

test('two logs are held against each other: 3 where they part', async () => {
  const same = await run(['diff', file('plain'), file('redacted'), '--json']);
  expect([same.code, documentOf('diff', same.stdout)]).toMatchObject([EXIT.ok, { events: 3, firstDifference: null }]);
  writeLines(file('longer'), exportLines(longer(), { package: '1' }));
  const parted = await run(['diff', file('plain'), file('longer'), '--json']);
  expect([parted.code, documentOf('diff', parted.stdout)]).toMatchObject([
    EXIT.problems,
    { firstDifference: { position: 4, kind: 'end' } },
  ]);
});

test('a moment is a position or a time with its zone', async () => {
  const at = async (moment: string): Promise<unknown> =>
    documentOf('replay', (await run(['replay', file('plain'), '--until', moment, '--json'])).stdout)['position'];
  expect(await Promise.all(['2', '1970-01-01T00:00:01.001Z', '1970-01-01T02:00:01.001+02:00'].map(at))).toEqual([
    2, 2, 2,
  ]);
  const { code, stderr } = await run(['why', 'everything', '--log', file('plain'), '--at', '1970-01-01T00:00:01']);
  expect([code, stderr]).toEqual([EXIT.usage, expect.stringMatching(/zone is missing.*2026-01-31T14:02Z/) as unknown]);
  const nonsense = await run(['replay', file('plain'), '--until', 'yesterday']);
  expect([nonsense.code, nonsense.stderr]).toEqual([EXIT.usage, expect.not.stringContaining('zone') as unknown]);
});

test.each(['2026-02-30T09:00Z', '2026-04-31T09:00:00+08:00', '2026-02-29T00:00Z'])(
  '%s is refused, and not taken for a day of the next month',
  async (moment) => {
    const { code, stdout, stderr } = await run(['replay', file('plain'), '--until', moment]);
    expect([code, stdout, stderr]).toEqual([EXIT.usage, '', expect.stringContaining('no such day')]);
  },
);

test('a moment before the log is refused with where it begins; of a time after its end the end is told, and that it is', async () => {
  for (const moment of ['0', '1970-01-01T00:00:00Z'])
    for (const command of [
      ['replay', file('plain'), '--until'],
      ['why', 'everything', '--log', file('plain'), '--at'],
    ]) {
      const { code, stdout, stderr } = await run([...command, moment]);
      expect([code, stdout]).toEqual([EXIT.usage, '']);
      expect(stderr).toContain('the log begins at position 1, at 1970-01-01T00:00:01.000Z');
    }
  const end = await run(['replay', file('plain')]);
  expect(end.stderr).toBe('');
  expect(await run(['replay', file('plain'), '--until', '2026-01-01T00:00Z'])).toEqual({
    ...end,
    stderr: 'the log ends at position 3: this is how things stood there\n',
  });
});

test('a position after the end is refused with where it ends: seconds since the epoch look like one', async () => {
  for (const position of ['4', '1767603645'])
    for (const command of [
      ['replay', file('plain'), '--until'],
      ['why', 'everything', '--log', file('plain'), '--at'],
    ]) {
      const { code, stdout, stderr } = await run([...command, position]);
      expect([code, stdout]).toEqual([EXIT.usage, '']);
      expect(stderr).toMatch(/the log ends at position 3\n {2}next: name a position up to there, or a time like /);
    }
});

test('why answers from a file, also of a moment before', async () => {
  const { stdout } = await run(['why', 'everything', '--log', file('plain'), '--json']);
  expect(documentOf('why', stdout)).toMatchObject({ account: 'ann', state: 'withheld', reason: 'unknown' });
  const before = await run(['why', 'everything', '--log', file('plain'), '--at', '1']);
  expect(before.stdout).toContain('nothing in the log speaks about it');
});

test('why knows an account by its label also in a redacted log, and refuses one that is not there', async () => {
  const asked = (name: string, account: string) =>
    run(['why', 'everything', '--log', file(name), '--account', account]);
  const labelled = await asked('redacted', 'account 1');
  expect([labelled.code, labelled.stdout]).toEqual([EXIT.ok, (await asked('plain', 'ann')).stdout]);
  for (const name of ['plain', 'redacted']) {
    const { code, stdout, stderr } = await asked(name, 'nobody');
    expect([code, stdout, stderr]).toEqual([
      EXIT.usage,
      '',
      expect.stringMatching(/known are: account 1 \(.*next: name one/s),
    ]);
  }
});

test.each([
  ['changed', EXIT.problems],
  ['foreign', EXIT.problems],
  ['absent', EXIT.usage],
])('a log file that is %s is refused with %i and a next step, on stderr only', async (name, expected) => {
  const { code, stdout, stderr } = await run(['replay', file(name), '--json']);
  expect([code, stdout]).toEqual([expected, '']);
  expect(stderr).toMatch(/error: [^]*next: /);
});

test('a log file is verified like a log, and a redacted one says what its chain does not bind', async () => {
  const verified = async (name: string, ...more: readonly string[]) => run(['log', 'verify', file(name), ...more]);
  const plain = await verified('plain', '--json');
  expect([plain.code, documentOf('log-verify', plain.stdout)]).toMatchObject([EXIT.ok, { events: 3, broken: null }]);
  expect((await verified('plain')).stdout).not.toContain('redacted');
  expect((await verified('redacted')).stdout).toContain('redacted, so that no payload is bound');
  const changed = await verified('changed');
  expect([changed.code, changed.stdout]).toMatchObject([EXIT.problems, expect.stringMatching(/breaks at position \d/)]);
  const foreign = await verified('foreign');
  expect([foreign.code, foreign.stderr]).toMatchObject([EXIT.problems, expect.not.stringContaining('log verify')]);
});

test('what holds of a broken log is named, and can be played', async () => {
  writeLines(file('growing'), exportLines(longer(), { package: '1' }));
  writeFileSync(file('broken'), readFileSync(file('growing'), 'utf8').replace('"at":2000', '"at":2001'));
  const { code, stdout } = await run(['log', 'verify', file('broken')]);
  expect([code, stdout]).toEqual([
    EXIT.problems,
    expect.stringMatching(/\n {2}next: export the log again; .*--until 3` plays what holds\n$/),
  ]);
  expect((await run(['replay', file('broken'), '--until', '3'])).code).toBe(EXIT.ok);
  expect((await run(['replay', file('broken')])).code).toBe(EXIT.problems);
});

test('what to do about a line is said once', async () => {
  writeFileSync(file('odd'), readFileSync(file('plain'), 'utf8').replace('{"position":2,', '{'));
  const steps = async (...args: readonly string[]): Promise<number> => {
    const { code, stdout, stderr } = await run([...args, file('odd')]);
    expect([code, stdout + stderr]).toEqual([EXIT.problems, expect.stringMatching(/line \d: bad event at position: /)]);
    return (stdout + stderr).match(/export the log again/g)?.length ?? 0;
  };
  expect([await steps('replay'), await steps('log', 'verify')]).toEqual([1, 1]);
});

test('of a log of the machine that does not hold it is said how to take along what holds', async () => {
  const state = join(folder, 'damaged');
  const path = pathsOf({}, state).log;
  mkdirSync(state);
  const log = await openSqliteLog(path);
  for (const [index, fact] of facts.entries())
    log.append([{ ...fact, id: `e${String(index)}`, at: 1000 + index, cause: null }]);
  log.close();
  const db = new Database(path);
  db.exec('update events set at = at + 1 where position = 3');
  db.close();
  const { code, stdout } = await run(['log', 'verify', '--state', state]);
  expect([code, stdout]).toEqual([
    EXIT.problems,
    expect.stringMatching(/position 3: .*\n {2}next: keep .*export FILE --until 2`.*\n$/),
  ]);
});

test('an edited payload passes the chain of a redacted log, and is met by its state hash and by the original', async () => {
  const edited = readFileSync(file('redacted'), 'utf8').replace('"connector":"everything"', '"connector":"something"');
  writeFileSync(file('edited'), edited);
  const codes = [['log', 'verify'], ['replay'], ['diff', file('plain')]].map(async (command) =>
    run([...command, file('edited')]),
  );
  expect((await Promise.all(codes)).map(({ code }) => code)).toEqual([EXIT.ok, EXIT.problems, EXIT.problems]);
});

test.each([
  ['replay', folder],
  ['diff', folder],
  ['why', 'docs', '--log', folder],
  ['log', 'verify', folder],
  ['log', 'export', folder],
])('a folder in the place of a log file is a usage error: %s', async (...args) => {
  const { code, stdout, stderr } = await run(args);
  expect([code, stdout, stderr]).toEqual([EXIT.usage, '', expect.stringContaining(`${folder} is a folder`)]);
});

test('log show prints a document for each event, as its help says, and no transcript instead; it begins within the log', async () => {
  const state = join(folder, 'state');
  mkdirSync(state);
  const log = await openSqliteLog(join(state, 'log.sqlite'));
  log.append(facts.map((fact, index) => ({ ...fact, id: `e${String(index)}`, at: 1000 + index, cause: null })));
  log.close();
  const [json, jsonl] = await Promise.all(
    ['--json', '--jsonl'].map((how) => run(['log', 'show', '--state', state, how])),
  );
  expect(
    json?.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Fact).type),
  ).toEqual(facts.map(({ type }) => type));
  expect(jsonl).toEqual(json);
  expect((await run(['log', 'show', '--help'])).stdout).toContain('an event each; so does --json');
  for (const form of ['--json', '--jsonl']) {
    const { code, stdout, stderr } = await run(['log', 'show', '--state', state, '--transcript', form]);
    expect([code, stdout]).toEqual([EXIT.usage, '']);
    expect(stderr).toContain(`next: drop ${form} for the transcript, or --transcript for`);
  }
  const from = (position: string) => run(['log', 'show', '--state', state, '--from', position]);
  expect(await from('4')).toEqual({ code: EXIT.ok, stdout: '', stderr: '' });
  expect(await from('5')).toMatchObject({
    code: EXIT.usage,
    stdout: '',
    stderr: expect.stringContaining('position 3'),
  });
});

test('simulated worlds hold the laws, and say which faults they met', async () => {
  const { code, stdout } = await run(['simulate', '--seed', '7', '--json']);
  const { violations, faults } = documentOf('simulate', stdout);
  expect([code, violations]).toEqual([EXIT.ok, []]);
  expect(Object.values(faults as Record<string, number>).some((count) => count > 0)).toBe(true);
});

test('a log is compacted while no daemon has it, and comes to the same state', async () => {
  const state = join(folder, 'compacted');
  const path = pathsOf({}, state).log;
  mkdirSync(state, { recursive: true });
  const log = await openSqliteLog(path);
  for (let poll = 0; poll < 700; poll++)
    log.append([{ type: 'clock.ticked', data: { reason: 'poll' }, id: `p${String(poll)}`, at: 2000, cause: null }]);
  const { stateHash } = replay(log);
  const busy = await run(['log', 'compact', '--state', state]);
  expect([busy.code, busy.stderr]).toEqual([EXIT.conflict, expect.stringMatching(/next: stop the other process/)]);
  log.close();
  const { code, stdout, stderr } = await run(['log', 'compact', '--state', state, '--json']);
  expect([code, documentOf('log-compact', stdout)]).toMatchObject([EXIT.ok, { head: 700, stateHash, segments: 1 }]);
  expect(stderr).toMatch(/folding 700 events as they are\n.*folding 700 events as packed\n/s);
  expect((await run(['log', 'verify', '--state', state])).code).toBe(EXIT.ok);
});

test('a log of an older version waits for its daemon: 5, and nobody is told that it is damaged', async () => {
  const state = join(folder, 'outdated');
  const path = pathsOf({}, state).log;
  mkdirSync(state, { recursive: true });
  (await openSqliteLog(path)).close();
  const db = new Database(path);
  db.exec("delete from kysely_migration where name >= '0004'; alter table segmentParts drop column packed");
  db.close();
  const { code, stderr } = await run(['log', 'verify', '--state', state]);
  expect([code, stderr]).toEqual([EXIT.unavailable, expect.stringMatching(/older version.*next: start the daemon/s)]);
  expect((await run(['log', 'compact', '--state', state])).stdout).toMatch(/^nothing to pack: \d+ KiB, 0 events\.$/m);
  expect((await run(['log', 'verify', '--state', state])).code).toBe(EXIT.ok);
});

test.each([['show'], ['verify'], ['export', join(folder, 'nothing.jsonl')], ['compact']])(
  'where nothing was ever logged that is said, and no log is made: log %s',
  async (...args) => {
    const nowhere = join(folder, 'nowhere');
    const { code, stdout, stderr } = await run(['log', ...args, '--state', nowhere]);
    expect([code, stdout, existsSync(nowhere)]).toEqual([EXIT.unavailable, '', false]);
    expect(stderr).toMatch(
      /error: there is no log at .*\n {2}next: name the state directory of its daemon with --state\n$/,
    );
    const empty = join(folder, 'empty');
    mkdirSync(empty, { recursive: true });
    writeFileSync(join(empty, 'log.sqlite'), '');
    const emptied = await run(['log', ...args, '--state', empty]);
    expect([emptied.code, emptied.stdout, statSync(join(empty, 'log.sqlite')).size]).toEqual([EXIT.problems, '', 0]);
  },
);

test('of a log that cannot be read for another reason nobody is told to free space', () => {
  const { exit, next } = verdictOf({ name: 'LogUnavailable' });
  expect([exit, next]).toEqual([EXIT.unavailable, expect.not.stringMatching(/space|state directory/)]);
});
