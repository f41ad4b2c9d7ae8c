/** What an on-call person is told: the answer names the event, its place and its time, and what would change it. */
import { describe, expect, test } from 'vitest';
import { eventTypes, type RecordedEvent } from '../../src/events/index.ts';
import { formatInstant, narrate, reasons, reasonWords, UnknownAccount } from '../../src/reconcile/index.ts';
import { connected, disconnected, docsPublished, MINUTE, reauth, Scenario, SECOND } from '../support/scenario.ts';

describe('why', () => {
  test('names the event that closed a route, with its position and time, and what would change it', () => {
    const why = docsPublished()
      .read(6, { docs: disconnected(2, 'h1') })
      .why('docs');
    expect(why.text).toBe(
      'docs is not published: the server says that it is not connected. Since event 6 at 1970-01-01T00:16:40.000Z: the snapshot at revision 6 said that docs is disconnected, connection version 2',
    );
    expect(why.wouldChange).toBe('connect the connector');
  });

  test('names the refused call even when a snapshot has had the last word since', () => {
    const why = docsPublished()
      .reject('docs')
      .read(6, { docs: reauth(1) })
      .why('docs');
    expect(why.text).toMatch(
      /Closed by event 6 .*: a call to docs was refused.*\(-33002\)\. Then event 7 .*docs is to be authorized again/,
    );
    expect(why.chain.map(({ position }) => position)).toEqual([6, 7]);
  });

  test('says which snapshot and which instant a refused route waits for', () => {
    const s = docsPublished().reject('docs');
    expect(s.why('docs').wouldChange).toContain('begun after event 6');
    s.read(5, { docs: connected(1) });
    expect(s.why('docs').wouldChange).toBe(
      'the end of its hold-off at 1970-01-01T00:16:42.000Z: then it is opened once more, by a fresh probe',
    );
  });

  test('says from which revision on a disconnected route may come back', () => {
    const s = docsPublished().drop('docs').dropped('docs', 7);
    expect(s.why('docs').wouldChange).toContain('begun after event 7, at revision 7 or later');
  });

  test('blames the start for what has not been reported since, and the sign-in for what has not been read since', () => {
    const s = docsPublished().restart();
    expect(s.why('docs').chain.map(({ position, type }) => [position, type])).toEqual([[6, 'engine.started']]);
    s.installed('docs').signIn('ann');
    expect(s.why('docs').chain.at(-1)).toMatchObject({ position: 8, type: 'account.activated' });
  });

  test('tells that the server contradicts itself, and what would end it, of what is hidden and of what is shown', () => {
    const torn = docsPublished().read(5, { docs: reauth(1) });
    expect(torn.why('docs').wouldChange).toBe(
      'connect the connector again; or what the server says at a newer revision, or three times in a row, a minute apart (1 so far)',
    );
    const behind = docsPublished()
      .later(MINUTE)
      .read(4, { docs: disconnected(1) });
    expect(behind.why('docs').text).toMatch(
      /^docs is published\. .*\. The server has contradicted itself since event 6 .*: the snapshot at revision 4 said that docs is disconnected/,
    );
    expect(behind.why('docs').wouldChange).toContain('; or what the server says at a newer revision');
    // Where nothing that the server says would change it.
    const off = behind.installed('docs', { enabled: false }).why('docs');
    expect([off.text, off.wouldChange]).toEqual([expect.not.stringContaining('contradicted'), 'enable the connector']);
  });

  test('says when a failed route is tried again, and how long the account has not been read', () => {
    const failed = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: connected(1) })
      .fail('docs');
    expect(failed.why('docs').wouldChange).toMatch(/^the next attempt, at 1970-01-01T00:16:4\d/);
    const stale = docsPublished().later(61 * MINUTE);
    expect(stale.why('docs')).toMatchObject({ reason: 'stale' });
    expect(stale.why('docs').wouldChange).toContain('1970-01-01T00:16:40.000Z');
  });

  test('blames the snapshot whose entry could not be read, also the first one of a sign-in', () => {
    const never = new Scenario().installed('docs').signIn('ann').read(5, { docs: 'unreadable' });
    const now = docsPublished().signIn('ann').read(6, { docs: 'unreadable' });
    for (const s of [never, now]) {
      expect(s.why('docs')).toMatchObject({ reason: 'unreadable', state: s === never ? 'withheld' : 'closing' });
      expect(s.why('docs').chain.at(-1)).toMatchObject({ position: s.position, type: 'snapshot.received' });
    }
  });

  test('blames the report that said it is not installed, not the start before it', () => {
    const s = new Scenario().installed('files', {
      kind: 'stdio',
      authorization: 'none',
      incompatible: 'not-installed',
    });
    expect(s.why('files').chain).toMatchObject([
      { position: 2, type: 'connector.installed', text: 'files was looked for and is not installed' },
    ]);
  });

  test('threatens a local route with nothing that an account does', () => {
    const s = new Scenario().installed('files', { kind: 'stdio', authorization: 'none' }).open('files');
    expect(s.why('files').wouldChange).toMatch(/^the end of its process/);
    expect(s.why('files').wouldChange).not.toMatch(/account|revocation|refused/);
    expect(docsPublished().why('docs').wouldChange).toMatch(/^a revocation, a refused call, a switch of account/);
  });

  test('tells a connector called "constructor" from what every object inherits', () => {
    const s = new Scenario()
      .installed('constructor')
      .signIn('ann')
      .read(5, { constructor: connected(1) } as never)
      .read(6, {})
      .read(6, {});
    expect(s.anomalies).toEqual([]);
    expect(s.why('constructor').text).toContain('did not name constructor');
  });

  test('names no account', () => {
    const s = docsPublished();
    for (const step of [s, s.reject('docs'), s.signOut(), s.signIn('bob'), s.later(MINUTE), s.restart()])
      expect(JSON.stringify({ ...step.why('docs'), account: null })).not.toMatch(/ann|bob/);
  });
});

describe('beside its reason, why', () => {
  const bobLacks = (): Scenario =>
    docsPublished()
      .signIn('bob')
      .read(3, { docs: disconnected(0) });

  test('says whose answer it is, and since when that account is the active one', () => {
    expect(bobLacks().why('docs').text).toMatch(
      /^docs is not published for account 2: the server says that it is not connected\. Since event 7 .*\. Account 2 has been active since event 6 at 1970-01-01T00:16:40\.000Z: an account was made the active one/,
    );
    expect(
      bobLacks()
        .why('docs')
        .chain.map(({ position }) => position),
    ).toEqual([6, 7]);
    const back = bobLacks()
      .signIn('ann')
      .read(5, { docs: connected(1) });
    expect(back.why('docs').text).toMatch(/^docs is wanted for account 1 and being opened\. Since/);
    expect(back.open('docs').why('docs').text).toMatch(
      /^docs is published for account 1\. Since event \d+ at [^ ]*: docs was/,
    );
  });

  test('keeps the last failure in sight while it is tried again', () => {
    const s = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: connected(1) })
      .fail('docs', 'timeout');
    const failedAt = s.position;
    s.later(MINUTE);
    for (let i = 0; i < 20; i++) s.read(5, { docs: connected(1) });
    const why = s.why('docs');
    expect(why).toMatchObject({ state: 'opening', reason: null });
    expect(why.text).toMatch(
      new RegExp(`The last attempt ended with event ${String(failedAt)} at .*: opening docs failed: timeout`),
    );
    expect(why.chain).toContainEqual(expect.objectContaining({ position: failedAt, type: 'route.openFailed' }));
    expect(s.open('docs').why('docs').text).not.toContain('last attempt');
  });

  test('counts as a failure the process that ended, and of another connector or of our own stop none', () => {
    const stdio = { kind: 'stdio', authorization: 'none' } as const;
    const s = new Scenario().installed('files', stdio).installed('other', stdio).open('files');
    const { generation } = s.table.entries.get('/files') ?? { generation: '' };
    const ended = {
      account: null,
      epoch: s.state.head.boot,
      connector: 'files',
      generation,
      reason: 'exited with code 7',
    };
    s.learn({ type: 'route.exited', data: ended });
    const endedAt = s.position;
    s.fail('other').later(10 * SECOND);
    s.fail('files', 'aborted');
    s.installed('files', { ...stdio, enabled: false }).installed('files', stdio);
    expect(s.why('files').text).toContain(`The last attempt ended with event ${String(endedAt)}`);
    expect(s.why('files').text).toContain('exited with code 7');
  });
});

describe('an account that is asked for', () => {
  const two = (): Scenario =>
    docsPublished().installed('files', { kind: 'stdio', authorization: 'none' }).signIn('bob');

  test('may be named by its id or by its order of appearance', () => {
    const s = two();
    expect(s.why('docs', 'account 1')).toMatchObject({ account: 'ann', reason: 'other-account' });
    expect(s.why('docs', 'account 1')).toEqual(s.why('docs', 'ann'));
    expect(s.why('docs', 'account 2')).toEqual(s.why('docs'));
  });

  test('is refused when the log does not know it, with those that it knows', () => {
    for (const account of ['carl', 'account 3', 'account 01'])
      expect(() => two().why('docs', account)).toThrow(
        new UnknownAccount(`the log knows no account "${account}"; known are: account 1 (ann), account 2 (bob)`),
      );
    expect(() => new Scenario().why('docs', 'ann')).toThrow('it knows none');
  });

  test('has the routes of this device too, and those of connectors that came after it', () => {
    const s = two().installed('mail');
    expect(s.why('files', 'ann')).toMatchObject({ account: null, state: 'opening' });
    expect(s.why('mail', 'ann')).toMatchObject({ account: 'ann', reason: 'other-account' });
  });
});

describe('a sentence', () => {
  test('exists for every row of a log that has lost its content or comes from a newer version', () => {
    for (const type of [...eventTypes, 'future.thing', 'constructor']) {
      const row = { type, data: {}, id: 'x', at: 0, cause: null, position: 1, schema: 1, rules: '1' };
      const redacted: RecordedEvent = { ...row, unknown: 'redacted' };
      expect(narrate(redacted, null)).toContain('redacted');
      expect(narrate({ ...row, unknown: 'newer' }, 'docs')).toContain('newer version');
    }
  });

  test('about a snapshot without a connector in mind counts what it does not name', () => {
    const s = new Scenario().signIn('ann').read(7, Object.fromEntries([...'abcdef'].map((c) => [c, connected(1)])));
    const [event] = s.log.slice(-1);
    expect(event === undefined ? '' : narrate(event, null)).toBe(
      'the snapshot at revision 7 named a connected (version 1), b connected (version 1), c connected (version 1), d connected (version 1), 2 more',
    );
  });

  test('ends without a full stop in every reason', () => {
    const words = reasons.flatMap((reason) => Object.values(reasonWords(reason)));
    expect(words.filter((text) => text.endsWith('.'))).toEqual([]);
  });
});

test('an instant reads as the calendar has it, leap days and all', () => {
  const days = [0, 951_782_400_000, 951_868_800_000, 1_709_164_800_000, 4_107_542_399_999, 253_402_300_799_999];
  for (const at of [...days, ...Array.from({ length: 2_000 }, (_, i) => i * 86_400_000 * 37 + i * SECOND)])
    expect(formatInstant(at)).toBe(new Date(at).toISOString());
});
