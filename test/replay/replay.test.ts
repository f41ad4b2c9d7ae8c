import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  exportLines,
  openLogFile,
  openSqliteLog,
  openSqliteLogReadOnly,
  writeLines,
  type LoggedEvent,
} from '../../src/events/index.ts';
import { effectText, stateHash, type Status } from '../../src/reconcile/index.ts';
import { Player, recordingOf, replay, steps, transcript, whyFrom } from '../../src/replay/index.ts';
import { connected, docsPublished, MINUTE } from '../support/scenario.ts';
import { tales } from '../support/tales.ts';

const folder = mkdtempSync(join(tmpdir(), 'dacapo-replay-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const history = (): ReturnType<typeof docsPublished> => docsPublished().reject('docs').closeAll().later(MINUTE).poll();
const told = await Promise.all(Object.values(tales).map(async (tell) => tell()));
const [switched] = [await (tales['account-switch'] ?? (() => Promise.reject(new Error('gone'))))()];

describe('a replay', () => {
  test('of any prefix stands where the fold stood there', () => {
    const s = history();
    for (let until = 0; until <= s.position; until++) {
      const { position, events, divergence } = replay(recordingOf(s.log), { until });
      expect([position, events, divergence]).toEqual([until, until, null]);
    }
    expect(replay(recordingOf(s.log)).stateHash).toBe(stateHash(s.state));
  });

  test('up to a position asks for nothing after it: there the log may be broken', () => {
    const { log } = history();
    const broken = {
      *read() {
        yield* log.slice(0, 3);
        throw new Error('broken');
      },
      marks: () => [],
    };
    expect(replay(broken, { until: 3 }).position).toBe(3);
    expect([...steps(broken, 3)]).toHaveLength(3);
    expect([...transcript(broken, { until: 3 })].join('\n')).toContain('after 3, ');
    expect(whyFrom(broken, 'docs', { at: 3 }).connector).toBe('docs');
    expect(() => replay(broken, { until: 4 })).toThrow('broken');
  });

  test('says what the running daemon says of its routes, its account and its anomalies', () => {
    for (const { log, engine } of told) {
      const { stateHash: hash, ...replayed } = replay(log);
      expect(pick(replayed)).toEqual(pick(engine.status()));
      expect(hash).toBe(engine.stateHash());
    }
  });

  test('says why the last read of this login failed, until one succeeds, and of no other login', () => {
    const s = history();
    const failed = (): unknown => replay(recordingOf(s.log)).account?.failed;
    const fail = (epoch: number): unknown =>
      s.learn({ type: 'snapshot.failed', data: { account: 'ann', epoch, reason: 'timeout', retryAfterMs: null } });
    const { epoch = 0 } = s.state.head.active ?? {};
    fail(epoch - 1);
    expect(failed()).toBeNull();
    fail(epoch);
    expect(failed()).toMatchObject({ reason: 'timeout', position: s.position, at: s.now });
    s.read(9, { docs: connected(1) });
    expect(failed()).toBeNull();
  });

  test('of a log on disk, of its export and of a redacted export are one', async () => {
    const path = join(folder, 'log.sqlite');
    const owned = await openSqliteLog(path);
    owned.append([...switched.log.read()].map(plain));
    owned.mark(owned.head, switched.engine.stateHash());
    const beside = await openSqliteLogReadOnly(path);
    writeLines(join(folder, 'plain.jsonl'), exportLines(beside, { package: '0.1.0' }));
    writeLines(join(folder, 'redacted.jsonl'), exportLines(beside, { package: '0.1.0', redactKey: 'k' }));
    const files = ['plain', 'redacted'].map((name) => openLogFile(join(folder, `${name}.jsonl`)));
    for (const log of [beside, ...files]) {
      expect(replay(log)).toMatchObject({ stateHash: switched.engine.stateHash(), divergence: null, marks: 1 });
      expect([...transcript(log)]).toEqual([...transcript(beside)]);
      expect({ ...whyFrom(log, 'docs'), account: null }).toEqual({ ...switched.engine.explain('docs'), account: null });
    }
    expect([...transcript(beside)].join()).not.toMatch(/\bann\b|\bbob\b/);
    beside.close();
    owned.close();
  });
});

describe('a state hash of the log', () => {
  const lying = (rules: string): ReturnType<typeof recordingOf> => {
    const events = history().log.map((event) => ({ ...event, rules }));
    return recordingOf(events, [
      { position: 3, stateHash: hashAt(3) },
      { position: 5, stateHash: 'f'.repeat(64) },
    ]);
  };

  test('that is another one under the same rules is a divergence, with its place', () => {
    const { divergence, differences } = replay(lying('1'));
    expect(divergence).toMatchObject({ position: 5, agreedUpTo: 3, recorded: 'f'.repeat(64), binding: true });
    expect(differences).toEqual([]);
    expect([...transcript(lying('1'))].filter((line) => line.includes('mark'))).toHaveLength(1);
  });

  test('that other rules wrote is listed and fails nothing', () => {
    const { divergence, differences } = replay(lying('0'));
    expect(divergence).toBeNull();
    expect(differences).toMatchObject([{ position: 5, rules: '0', binding: false }]);
  });

  test('behind a row that was redacted binds no more', () => {
    const events = history().log.map((event) =>
      event.position === 4 ? { ...event, unknown: 'redacted' as const, data: {} } : event,
    );
    const { divergence, differences } = replay(recordingOf(events, [{ position: 5, stateHash: hashAt(5) }]));
    expect([divergence, differences.length]).toEqual([null, 1]);
  });
});

describe('a step', () => {
  test('tells every change of what may be seen and of what is owed, and nothing else', () => {
    for (const { log } of told) {
      const [seen, owed] = [new Set<string>(), new Set<string>()];
      const player = new Player();
      for (const event of log.read()) {
        const { published, withdrawn, newlyDue, noLongerDue } = player.play(event);
        for (const route of withdrawn) expect(seen.delete(`${route.connector} ${route.generation}`)).toBe(true);
        for (const route of published) seen.add(`${route.connector} ${route.generation}`);
        for (const effect of noLongerDue) expect(owed.delete(effectText(effect))).toBe(true);
        for (const effect of newlyDue) owed.add(effectText(effect));
        expect([...seen].sort()).toEqual(
          [...player.table.entries.values()].map(({ connector, generation }) => `${connector} ${generation}`).sort(),
        );
        expect([...owed].sort()).toEqual([...player.due()].map(effectText).sort());
      }
    }
  });

  test('says when an event speaks of another sign-in, account, start or handle', () => {
    const remarks = [...steps(switched.log)].flatMap(({ remark }) => remark ?? []);
    expect(remarks).toEqual(['of another account', 'of another account', 'of another sign-in']);
    const late = docsPublished();
    const generation = late.generationOf('docs');
    late.reject('docs').reject('docs', generation);
    expect([...steps(recordingOf(late.log))].at(-1)).toMatchObject({ remark: 'of a handle that is not wanted' });
  });
});

describe('why, asked of a log', () => {
  test('answers for any position as it would have been answered then', () => {
    const s = docsPublished();
    const live = [s.why('docs')];
    for (const step of [s.reject('docs'), s.closeAll(), s.later(MINUTE), s.signOut()]) live.push(step.why('docs'));
    const log = recordingOf(s.log);
    const asked = s.log.map(({ position }) => whyFrom(log, 'docs', { at: position }));
    for (const answer of live) expect(asked).toContainEqual(answer);
  });

  test('finds the failure before an attempt as the daemon finds it', () => {
    const s = docsPublished()
      .reject('docs')
      .closeAll()
      .read(6, { docs: connected(2) });
    for (const reason of ['timeout', 'contract'] as const) s.fail('docs', reason).later(6 * MINUTE);
    expect(s.why('docs')).toMatchObject({
      state: 'opening',
      text: expect.stringContaining('failed: contract') as string,
    });
    expect(whyFrom(recordingOf(s.log), 'docs')).toEqual(s.why('docs'));
  });

  test('of a connector that the log does not know names those that it knows', () => {
    expect(whyFrom(recordingOf(history().log), 'mail').text).toContain('known are: docs');
    expect(whyFrom(recordingOf([]), 'mail')).toMatchObject({ reason: 'not-installed', chain: [] });
  });
});

const pick = ({ account, routes, anomalies, due, wanted }: Status): object => ({
  ...{ failed: account?.failed, routes, anomalies, due, wanted },
});
const hashAt = (until: number): string => replay(recordingOf(history().log), { until }).stateHash;
function plain(event: LoggedEvent | { unknown: string }): LoggedEvent {
  const { position: _, schema: __, rules: ___, ...rest } = event as LoggedEvent;
  return rest as LoggedEvent;
}
