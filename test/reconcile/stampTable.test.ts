/** The stamp table of DESIGN 5.2, row by row, in the words of given, when, then. */
import { describe, expect, test } from 'vitest';
import { uint64 } from '../../src/events/index.ts';
import { connected, disconnected, docsPublished, MINUTE, reauth, Scenario, SECOND } from '../support/scenario.ts';

describe('a greater revision', () => {
  test('applies its readable entries and raises the floor', () => {
    const s = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: connected(1) });
    expect(s.owed).toEqual(['openRoute docs']);
    expect(s.open('docs').published).toEqual(['ann/docs']);
    expect(s.read(6, { docs: disconnected(1) }).published).toEqual([]);
    expect(s.reasonOf('docs')).toBe('disconnected');
    expect(s.read(5, { docs: connected(1) }).anomalies).toEqual(['revision-regressed']);
  });

  test('of 64 bits is ordered as an integer, not as a float', () => {
    const s = new Scenario().installed('docs').signIn('ann');
    s.read(0, { docs: connected(1) }, {}).learn({
      type: 'snapshot.received',
      data: {
        account: 'ann',
        epoch: s.epoch,
        startedAt: s.position,
        serverEpoch: null,
        revision: uint64('9007199254740993'),
        complete: true,
        entries: {},
      },
    });
    const below = uint64('9007199254740992');
    s.learn({
      type: 'snapshot.received',
      data: {
        account: 'ann',
        epoch: s.epoch,
        startedAt: s.position,
        serverEpoch: null,
        revision: below,
        complete: true,
        entries: { docs: connected(9) },
      },
    });
    expect(s.reasonOf('docs')).toBe('disconnected');
    expect(s.anomalies).toEqual(['revision-regressed']);
  });
});

describe('an equal revision with equal content', () => {
  test('counts as a read of this epoch, and the routes come back after a restart (M1)', () => {
    const s = docsPublished().restart().installed('docs').signIn('ann');
    expect(s.reasonOf('docs')).toBe('unknown');
    s.read(5, { docs: connected(1) });
    expect(s.wants).toBe(false);
    expect(s.open('docs').published).toEqual(['ann/docs']);
    expect(s.anomalies).toEqual([]);
  });

  test('lifts an overlay after the hold-off, by a fresh probe, once (M2)', () => {
    const s = docsPublished()
      .reject('docs')
      .closeAll()
      .later(3 * SECOND);
    s.read(5, { docs: connected(1) });
    expect(s.owed).toEqual(['openRoute docs']);
    expect(s.open('docs').published).toEqual(['ann/docs']);
    expect(s.owed).toEqual([]);
  });
});

describe('an equal revision with other content', () => {
  test('is torn: the more closed entry wins, and every later read of that revision is a dissent', () => {
    const s = docsPublished().read(5, { docs: disconnected(1, 'h1') });
    expect(s.published).toEqual([]);
    expect(s.anomalies).toEqual(['revision-torn']);
    s.later(MINUTE).read(5, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('disconnected');
    expect(s.wants).toBe(true);
  });

  test('joins per connector: closed state and greater version, in either order (M20)', () => {
    const one = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: disconnected(1, 'h1') })
      .read(5, { docs: connected(2) });
    const other = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: connected(2) })
      .read(5, { docs: disconnected(1, 'h1') });
    expect(one.reasonOf('docs')).toBe('disconnected');
    expect(other.reasonOf('docs')).toBe('disconnected');
    expect(one.state.routes.get('ann')?.get('docs')?.machine.context.read).toEqual(
      other.state.routes.get('ann')?.get('docs')?.machine.context.read,
    );
  });

  test('is torn too where the first reply was whole and did not name the connector, known or not (L4)', () => {
    const known = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, {})
      .read(5, { docs: connected(1) });
    const unknown = new Scenario()
      .signIn('ann')
      .read(5, { docs: disconnected(1) })
      .read(5, { docs: connected(1) });
    expect([known.anomalies, unknown.anomalies]).toEqual([['revision-torn'], ['revision-torn']]);
    expect([known.owed, unknown.installed('docs').owed]).toEqual([[], []]);
  });

  test('does not refetch without end, and is adopted when three reads a minute apart agree (M5)', () => {
    const s = docsPublished()
      .read(6, { docs: connected(2) })
      .closeAll()
      .open('docs');
    s.read(6, { docs: connected(1) });
    expect(s.owed).not.toContain('fetchSnapshot');
    s.closeAll().later(MINUTE);
    expect(s.owed).toContain('fetchSnapshot');
    s.read(6, { docs: connected(1) })
      .later(MINUTE)
      .read(6, { docs: connected(1) });
    expect(s.anomalies).toContain('server-line-adopted');
    expect(s.open('docs').published).toEqual(['ann/docs']);
  });
});

describe('a revision below the floor', () => {
  test('is refused, is an anomaly, and what it said changes nothing', () => {
    const s = docsPublished().read(4, { docs: disconnected(1) });
    expect(s.published).toEqual(['ann/docs']);
    expect(s.anomalies).toEqual(['revision-regressed']);
  });
});

describe('a dissent', () => {
  test('keeps the wish and holds the next fetch off for a minute', () => {
    const s = docsPublished().poll().read(4, {});
    expect(s.owed).not.toContain('fetchSnapshot');
    expect(s.later(MINUTE - 1).owed).not.toContain('fetchSnapshot');
    expect(s.later(1).owed).toContain('fetchSnapshot');
  });

  test('adopts at the third in a row, a minute apart, revisions not falling (M3)', () => {
    const s = docsPublished()
      .read(3, { docs: connected(1) })
      .later(MINUTE)
      .read(3, { docs: connected(1) });
    expect(s.anomalies).not.toContain('server-line-adopted');
    s.later(MINUTE).read(4, { docs: connected(1) });
    expect(s.anomalies).toContain('server-line-adopted');
    expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
    expect(s.wants).toBe(false);
  });

  test('counts only when a minute lies between: three in one second adopt nothing', () => {
    const s = docsPublished().read(3, {}).read(3, {}).later(SECOND).read(3, {}).later(SECOND).read(3, {});
    expect(s.anomalies).not.toContain('server-line-adopted');
  });

  test('with falling revisions starts the count anew', () => {
    const s = docsPublished().read(4, {}).later(MINUTE).read(3, {}).later(MINUTE).read(3, {});
    expect(s.anomalies).not.toContain('server-line-adopted');
    expect(s.later(MINUTE).read(3, {}).anomalies).toContain('server-line-adopted');
  });

  test('of one revision with two contents starts the count anew', () => {
    const s = docsPublished()
      .read(4, {})
      .later(MINUTE)
      .read(4, { docs: connected(1) })
      .later(MINUTE)
      .read(4, {});
    expect(s.anomalies).not.toContain('server-line-adopted');
  });

  test('count is ended by a read that does not dissent', () => {
    const s = docsPublished()
      .read(4, {})
      .later(MINUTE)
      .read(4, {})
      .later(MINUTE)
      .read(5, { docs: connected(1) });
    s.later(MINUTE).read(4, {});
    expect(s.anomalies).not.toContain('server-line-adopted');
  });

  test('count is ended by a hint above the floor', () => {
    const s = docsPublished().read(4, {}).later(MINUTE).read(4, {}).hint(6).later(MINUTE).read(4, {});
    expect(s.anomalies).not.toContain('server-line-adopted');
  });

  test('of a lagging replica is refused, and adopted when it lags three times a minute apart: the stated bet (M22)', () => {
    const s = docsPublished()
      .read(6, { docs: disconnected(1) })
      .read(5, { docs: connected(1) });
    expect(s.published).toEqual([]);
    s.later(MINUTE)
      .read(5, { docs: connected(1) })
      .later(MINUTE)
      .read(5, { docs: connected(1) });
    expect(s.anomalies).toContain('server-line-adopted');
  });
});

describe('the server epoch', () => {
  const epoch = (value: number): { serverEpoch: ReturnType<typeof uint64> } => ({ serverEpoch: uint64(value) });

  test('when greater is adopted at once, at any revision (M3)', () => {
    const s = docsPublished()
      .read(6, { docs: connected(1) }, epoch(1))
      .read(2, { docs: connected(1) }, epoch(2));
    expect(s.anomalies).toEqual(['server-line-adopted']);
    expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
  });

  test('when less is refused, however often it comes', () => {
    const s = docsPublished().read(6, { docs: connected(1) }, epoch(5));
    for (let i = 0; i < 4; i++) s.later(MINUTE).read(9, { docs: disconnected(1) }, epoch(4));
    expect(s.published).toEqual(['ann/docs']);
    expect(s.anomalies).toEqual(['server-epoch-regressed']);
  });

  test('when missing is as held, when first seen is noted', () => {
    const s = docsPublished()
      .read(6, { docs: connected(1) }, epoch(5))
      .read(7, { docs: connected(1) });
    expect(s.read(8, {}, epoch(4)).anomalies).toEqual(['server-epoch-regressed']);
  });
});

describe('adopting a line', () => {
  test('forgets belief, floor, water and answered tombstones, and wants another generation', () => {
    const s = docsPublished().read(6, { docs: connected(7) }, { serverEpoch: uint64(1) });
    const before = s.closeAll().open('docs').generationOf('docs');
    s.drop('docs')
      .dropped('docs', 9)
      .read(1, { docs: connected(1) }, { serverEpoch: uint64(2) });
    expect(s.anomalies).not.toContain('version-regressed');
    expect(s.closeAll().open('docs').generationOf('docs')).not.toBe(before);
  });

  test('keeps overlays: what the gateway refused stays refused', () => {
    const s = docsPublished().read(6, { docs: connected(1) }, { serverEpoch: uint64(1) });
    const begun = s.position;
    s.reject('docs').read(1, { docs: connected(1) }, { serverEpoch: uint64(2), startedAt: begun });
    expect(s.reasonOf('docs')).toBe('rejected');
  });

  test('never reopens at the revision that had closed it (M6)', () => {
    const s = docsPublished()
      .read(6, { docs: disconnected(1) })
      .read(5, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('disconnected');
    expect(s.read(6, { docs: connected(2) }).reasonOf('docs')).toBe('disconnected');
  });
});

describe('server.reset', () => {
  test('adopts without a read and refuses reads begun before it', () => {
    const s = docsPublished();
    const begun = s.position;
    s.learn({ type: 'server.reset', data: { account: 'ann', acceptedBy: 'an operator' } });
    expect(s.published).toEqual([]);
    expect(s.read(5, { docs: connected(1) }, { startedAt: begun }).reasonOf('docs')).toBe('unknown');
    expect(s.anomalies).toContain('read-before-reset');
    expect(
      s
        .read(1, { docs: connected(1) })
        .closeAll()
        .open('docs').published,
    ).toEqual(['ann/docs']);
  });

  test('is the only way back to a lower server epoch', () => {
    const s = docsPublished().read(6, { docs: connected(1) }, { serverEpoch: uint64(5) });
    s.learn({ type: 'server.reset', data: { account: 'ann', acceptedBy: 'an operator' } });
    s.read(2, { docs: connected(1) }, { serverEpoch: uint64(4) });
    expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
  });
});

describe('a connectionVersion below the high-water of the same connection', () => {
  test('withholds that connector alone', () => {
    const s = new Scenario()
      .installed('docs')
      .installed('mail')
      .signIn('ann')
      .read(5, { docs: connected(4), mail: connected(1, 'm') });
    s.open('docs')
      .open('mail')
      .read(6, { docs: connected(3), mail: connected(1, 'm') });
    expect(s.published).toEqual(['ann/mail']);
    expect(s.reasonOf('docs')).toBe('regressed');
    expect(s.anomalies).toEqual(['version-regressed']);
  });

  test('is released after three such reads a minute apart, under another generation (M7)', () => {
    const s = docsPublished()
      .read(6, { docs: connected(2) })
      .read(7, {})
      .read(8, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('regressed');
    s.later(MINUTE).read(8, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('regressed');
    s.later(MINUTE).read(8, { docs: connected(1) });
    expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
  });

  test('starts anew for another connection (M7)', () => {
    const s = docsPublished()
      .read(6, { docs: connected(2) })
      .read(7, {})
      .read(8, { docs: connected(1, 'h2') });
    expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
    expect(s.anomalies).toEqual([]);
  });
});

describe('another connection', () => {
  test('under an unchanged version is another route: closed and opened anew, with a list of its own (M8)', () => {
    const s = docsPublished();
    const before = s.table.entries.get('ann/docs')?.generation;
    s.read(6, { docs: connected(1, 'h2') });
    expect(s.published).toEqual([]);
    expect(s.owed).toEqual(['closeRoute docs', 'openRoute docs']);
    expect(s.closeAll().open('docs').published).toEqual(['ann/docs']);
    expect(s.table.entries.get('ann/docs')?.generation).not.toBe(before);
    expect(s.anomalies).toEqual([]);
  });
});

describe('an account switch', () => {
  test('leaves the routes of this device as they are, handle and all (M17)', () => {
    const s = docsPublished().installed('files', { kind: 'stdio', authorization: 'none' }).open('files');
    const before = s.table.entries.get('/files');
    s.signIn('bob');
    expect(s.published).toEqual(['/files']);
    expect(s.table.entries.get('/files')).toBe(before);
    expect(s.owed).not.toContain('openRoute files');
    expect(s.owed).not.toContain('closeRoute files');
  });
});

describe('an absent connector', () => {
  test('of a complete snapshot is disconnected, its version kept', () => {
    const s = docsPublished().read(6, {});
    expect(s.reasonOf('docs')).toBe('disconnected');
    expect(s.state.routes.get('ann')?.get('docs')?.machine.context.read?.entry.connectionVersion).toBe('1');
  });

  test('of an incomplete snapshot is untouched, and the wish is not satisfied', () => {
    const s = docsPublished().poll().read(6, {}, { complete: false });
    expect(s.published).toEqual(['ann/docs']);
    expect(s.wants).toBe(true);
  });
});

describe('an unreadable entry', () => {
  test('withholds its connector until the next readable one, at the same revision too; the rest applies (M11)', () => {
    const s = new Scenario()
      .installed('docs')
      .installed('mail')
      .signIn('ann')
      .read(5, { docs: connected(1), mail: connected(1, 'm') });
    s.open('docs')
      .open('mail')
      .read(6, { docs: 'unreadable', mail: disconnected(1, 'm') });
    expect(s.published).toEqual([]);
    expect([s.reasonOf('docs'), s.reasonOf('mail')]).toEqual(['unreadable', 'disconnected']);
    expect(s.anomalies).toEqual(['entry-unreadable']);
    expect(s.read(6, { docs: connected(1), mail: disconnected(1, 'm') }).published).toEqual(['ann/docs']);
  });
});

describe('a rejection', () => {
  test('of the wanted generation withdraws in the same turn, raises the count and wants a snapshot', () => {
    const s = docsPublished();
    const before = s.generationOf('docs');
    expect(s.reject('docs').published).toEqual([]);
    expect(s.reasonOf('docs')).toBe('rejected');
    expect(s.owed).toEqual(['closeRoute docs', 'fetchSnapshot']);
    s.closeAll()
      .later(3 * SECOND)
      .read(5, { docs: connected(1) });
    expect(s.dueOpen('docs').generation).not.toBe(before);
  });

  test('counts whatever the account revision was when the call began (M12)', () => {
    const s = docsPublished().read(6, { docs: connected(1) });
    s.reject('docs', s.generationOf('docs'), { stamp: { line: 0, revision: uint64(5) } });
    expect(s.published).toEqual([]);
    expect(s.closeAll().later(SECOND).owed).toEqual(['fetchSnapshot']);
  });

  test('of another generation or epoch is recorded and changes nothing (M9)', () => {
    const s = docsPublished();
    s.reject('docs', 'another').reject('docs', s.generationOf('docs'), { epoch: 999 });
    expect(s.published).toEqual(['ann/docs']);
  });

  test('of nothing: an open that was stopped has not failed, and is owed again', () => {
    const s = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: connected(1) })
      .fail('docs', 'aborted');
    expect(s.owed).toEqual(['openRoute docs']);
  });

  test('during activation is one event with the same effect (M21)', () => {
    const s = new Scenario()
      .installed('docs')
      .signIn('ann')
      .read(5, { docs: connected(1) })
      .fail('docs', 'rejected');
    expect(s.reasonOf('docs')).toBe('rejected');
    expect(s.owed).toEqual(['fetchSnapshot']);
  });
});

describe('an overlay', () => {
  test('is not lifted by a read begun before the rejection, however new its revision (M15)', () => {
    const s = docsPublished();
    const begun = s.position;
    s.reject('docs')
      .later(10 * MINUTE)
      .read(6, { docs: connected(1) }, { startedAt: begun });
    expect(s.reasonOf('docs')).toBe('rejected');
  });

  test('is lifted at once by a read that names another version or connection', () => {
    const version = docsPublished()
      .reject('docs')
      .read(6, { docs: connected(2) });
    const connection = docsPublished()
      .reject('docs')
      .read(6, { docs: connected(1, 'h2') });
    expect([version.reasonOf('docs'), connection.reasonOf('docs')]).toEqual([null, null]);
  });

  test('on an unchanged connection waits 2^k s after a read that says connected, and needs no second read', () => {
    const s = docsPublished()
      .reject('docs')
      .closeAll()
      .read(6, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('rejected');
    expect(s.later(2 * SECOND).owed).toEqual(['openRoute docs']);
  });

  test('of a connector whose every call is rejected doubles its hold-off: unrelated changes do not shorten it (M19)', () => {
    const s = docsPublished();
    let published = 0;
    for (let minute = 0; minute < 60; minute++) {
      if (s.published.length > 0) s.reject('docs').closeAll();
      s.later(MINUTE).read(6 + minute, { docs: connected(1) });
      if (s.owed.includes('openRoute docs')) published += Number(s.open('docs').published.length > 0);
    }
    expect(published).toBeLessThan(20);
  });

  test('stays while the server says it is closed', () => {
    const s = docsPublished()
      .reject('docs')
      .closeAll()
      .read(6, { docs: reauth(1) })
      .later(10 * MINUTE);
    expect(s.reasonOf('docs')).toBe('reauth-required');
    expect(s.read(7, { docs: connected(2) }).owed).toEqual(['openRoute docs']);
  });
});

describe('connection.dropping', () => {
  test('withdraws from this turn on', () => {
    expect(docsPublished().drop('docs').published).toEqual([]);
  });

  test('is lifted by a read begun after the answer, at its revision', () => {
    const s = docsPublished()
      .drop('docs')
      .dropped('docs', 7)
      .read(6, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('dropped');
    expect(s.read(7, { docs: disconnected(1) }).reasonOf('docs')).toBe('disconnected');
  });

  test('is not lifted by a read from before the answer (M14)', () => {
    const s = docsPublished().drop('docs');
    const begun = s.position;
    s.dropped('docs', null).read(9, { docs: connected(1) }, { startedAt: begun });
    expect(s.reasonOf('docs')).toBe('dropped');
  });

  test('whose answer names no revision needs one above the floor known before', () => {
    const s = docsPublished()
      .drop('docs')
      .dropped('docs', null)
      .read(5, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe('dropped');
    expect(s.read(6, { docs: disconnected(1) }).reasonOf('docs')).toBe('disconnected');
  });

  test('that failed, or was lost with its epoch, comes back with the next read (M13)', () => {
    const failed = docsPublished()
      .drop('docs')
      .dropFailed('docs')
      .read(5, { docs: connected(1) });
    const lost = docsPublished()
      .drop('docs')
      .signIn('ann')
      .read(5, { docs: connected(1) });
    expect([failed.reasonOf('docs'), lost.reasonOf('docs')]).toEqual([null, null]);
  });

  test('answer is a hint too', () => {
    expect(docsPublished().drop('docs').dropped('docs', 7).later(SECOND).owed).toContain('fetchSnapshot');
  });
});

describe('a hint', () => {
  test('of a revision that is wanted already touches nothing', () => {
    const s = docsPublished().hint(7);
    const before = s.state.accounts.get('ann');
    expect(s.hint(7).hint(6).state.accounts.get('ann')).toBe(before);
    expect(s.hint(8).state.accounts.get('ann')).not.toBe(before);
  });

  test('without a revision, an opened channel, a poll, a new epoch and an ended authorization each want a snapshot', () => {
    const ended = {
      account: 'ann',
      epoch: 2,
      connector: 'docs',
      outcome: 'succeeded',
      connectionIdHash: null,
      reason: null,
    } as const;
    expect(docsPublished().hint(null).wants).toBe(true);
    expect(docsPublished().learn({ type: 'hints.opened', data: { incarnation: 'i' } }).wants).toBe(true);
    expect(docsPublished().poll().wants).toBe(true);
    expect(docsPublished().signIn('ann').wants).toBe(true);
    expect(docsPublished().learn({ type: 'authorization.ended', data: ended }).wants).toBe(true);
  });

  test('at or below the floor wants nothing; above it, until its revision is read', () => {
    expect(docsPublished().hint(5).wants).toBe(false);
    const s = docsPublished()
      .hint(7)
      .read(6, { docs: connected(1) });
    expect(s.wants).toBe(true);
    expect(s.read(7, { docs: connected(1) }).wants).toBe(false);
  });

  test('that three reads a minute apart fall short of is given up, as an anomaly (M4, M10)', () => {
    const s = docsPublished().hint(999);
    let fetches = 0;
    for (let i = 0; i < 600 && s.wants; i++) {
      if (s.owed.includes('fetchSnapshot')) fetches += Number(s.read(5, { docs: connected(1) }) !== undefined);
      s.later(SECOND);
    }
    expect(s.wants).toBe(false);
    expect(s.anomalies).toEqual(['hint-unreached']);
    expect(fetches).toBeLessThan(12);
    expect(s.published).toEqual(['ann/docs']);
  });

  test('given up frees a tombstone that waits for its revision', () => {
    const s = docsPublished().drop('docs').dropped('docs', 99);
    for (let i = 0; i < 4; i++) s.later(MINUTE).read(6, { docs: connected(1) });
    expect(s.reasonOf('docs')).toBe(null);
  });
});

describe('a wish', () => {
  test('is not ended by a read begun before it', () => {
    const s = docsPublished();
    const begun = s.position;
    s.hint(null).read(6, { docs: connected(1) }, { startedAt: begun });
    expect(s.wants).toBe(true);
    expect(s.read(6, { docs: connected(1) }).wants).toBe(false);
  });

  test('survives a failed fetch, which backs off', () => {
    const s = docsPublished().poll();
    s.learn({
      type: 'snapshot.failed',
      data: { account: 'ann', epoch: s.epoch, reason: 'HTTP 503', retryAfterMs: 10_000 },
    });
    expect(s.later(9 * SECOND).owed).toEqual([]);
    expect(s.later(SECOND).owed).toEqual(['fetchSnapshot']);
  });
});

describe('without an accepted snapshot', () => {
  test('for ten minutes the account is stale, and for an hour its authorized routes are withdrawn', () => {
    const s = docsPublished().later(10 * MINUTE);
    expect(s.state.accounts.get('ann')?.machine.value).toBe('stale');
    expect(s.published).toEqual(['ann/docs']);
    expect(s.later(50 * MINUTE).published).toEqual([]);
    expect(s.reasonOf('docs')).toBe('stale');
    expect(
      s
        .closeAll()
        .read(5, { docs: connected(1) })
        .open('docs').published,
    ).toEqual(['ann/docs']);
  });
});
