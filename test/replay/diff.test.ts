import { describe, expect, test } from 'vitest';
import { exportLines, openLogFile, writeLines, type LoggedEvent, type RecordedEvent } from '../../src/events/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diff, diffLogs, recordingOf, replay, type Recording } from '../../src/replay/index.ts';
import { run } from '../../src/simulate/index.ts';
import { connected, morning } from '../support/tale.ts';
import { tales } from '../support/tales.ts';

const told = await Promise.all(Object.values(tales).map(async (tell) => tell()));
const eventsOf = (log: Recording): LoggedEvent[] => [...log.read()] as LoggedEvent[];
const hashAt = (log: Recording, until: number): string => replay(log, { until }).stateHash;
const marked = (events: readonly RecordedEvent[], ...positions: number[]): Recording => {
  const log = recordingOf(events);
  return recordingOf(
    events,
    positions.map((position) => ({ position, stateHash: hashAt(log, position) })),
  );
};
/** As other rules might have it: a read that says disconnected, where the log was written by rules that believed it connected. */
const believed = (events: readonly LoggedEvent[], at: number): LoggedEvent[] =>
  events.map((event) =>
    event.position === at && event.type === 'snapshot.received'
      ? { ...event, data: { ...event.data, entries: { ...event.data.entries, docs: { ...(connected(1) as object), state: 'disconnected' } } } as never } // prettier-ignore
      : event,
  );

describe('today over a log', () => {
  test('that today wrote finds no difference, in tales and in worlds', { timeout: 60_000 }, async () => {
    for (const { log } of told) expect(diff(log)).toMatchObject({ firstDifference: null, blindFrom: null });
    for (let seed = 1; seed <= 20; seed++) {
      const { log } = await run({ seed, steps: 300, calm: true });
      expect({ seed, ...diff(recordingOf(log)) }).toMatchObject({ firstDifference: null });
    }
  });

  test('names the decision that an outcome shows and today does not take', async () => {
    const { log } = await morning();
    const events = believed(eventsOf(log), 7);
    expect(diff(recordingOf(events)).firstDifference).toMatchObject({
      position: 7,
      agreedUpTo: 0,
      recorded: null,
      text: 'the log shows at 8 that it was decided here to open account 1/docs, which is not owed now',
    });
  });

  test('names the window of a state hash where no effect shows the decision, and what is owed instead', async () => {
    const { log } = await morning();
    const events = eventsOf(log);
    const marks = [
      { position: 6, stateHash: hashAt(log, 6) },
      { position: 7, stateHash: hashAt(recordingOf(believed(events, 7)), 7) },
    ];
    const { firstDifference } = diff(recordingOf(events.slice(0, 7), marks));
    expect(firstDifference).toMatchObject({ position: 7, agreedUpTo: 6, binding: true });
    expect(firstDifference?.text).toContain('the decision lies after 6; owed now, and not shown by the log: open account 1/docs (since 7)'); // prettier-ignore
  });

  test('takes the earlier of two witnesses, also when it shows later', async () => {
    const { log } = await morning();
    const events = believed(eventsOf(log), 7);
    const marks = [...marked(eventsOf(log), 6, 7).marks()];
    expect(diff(recordingOf(events, marks)).firstDifference).toMatchObject({
      position: 7,
      agreedUpTo: 6,
      recorded: null,
    });
  });

  test('sees that a tick changed something once', async () => {
    const tale = await (tales['rejected-by-mistake'] ?? morning)();
    const events = eventsOf(tale.log).filter(({ type }) => type !== 'call.rejected');
    const moved = events.map((event, index) => ({ ...event, position: index + 1, cause: null }));
    const { firstDifference } = diff(recordingOf(moved));
    expect(firstDifference?.text).toMatch(/^event \d+ changed something when it was written/);
  });

  test('says from where on it is blind', () => {
    const [{ log } = { log: recordingOf([]) }] = told;
    const events = eventsOf(log).map((e) => (e.position === 4 ? { ...e, unknown: 'redacted' as const, data: {} } : e));
    expect(diff(recordingOf(events))).toMatchObject({ blindFrom: 4, firstDifference: null });
  });

  test('does not bind a log of other rules', async () => {
    const { log } = await morning();
    const events = believed(eventsOf(log), 7).map((event) => ({ ...event, rules: '0' }));
    expect(diff(recordingOf(events)).firstDifference).toMatchObject({ rules: '0', binding: false });
  });
});

describe('two logs', () => {
  test('are one when one is the other, redacted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dacapo-diff-'));
    const tale = await (tales['account-switch'] ?? morning)();
    const salted = { ...tale.log, head: tale.log.head, salt: 's', read: () => tale.log.read(), marks: () => tale.log.marks(), rows: () => tale.log.rows(), verify: () => tale.log.verify(), close: () => undefined }; // prettier-ignore
    writeLines(join(folder, 'redacted.jsonl'), exportLines(salted, { package: '0.1.0', redactKey: 'k' }));
    const { firstDifference, events } = diffLogs(tale.log, openLogFile(join(folder, 'redacted.jsonl')));
    expect([firstDifference, events]).toEqual([null, tale.log.head]);
    rmSync(folder, { recursive: true });
  });

  test('part at an event, at its content, or where one ends', async () => {
    const { log } = await morning();
    const events = eventsOf(log);
    const other = events.map((event) => (event.position === 5 ? { ...event, id: 'other' } : event));
    const parts = (list: readonly RecordedEvent[]): unknown => diffLogs(log, recordingOf(list)).firstDifference;
    expect(parts(other)).toMatchObject({ position: 5, kind: 'event' });
    expect(parts(believed(events, 7))).toMatchObject({ position: 7, kind: 'state' });
    expect(parts(events.slice(0, 6))).toMatchObject({ position: 7, kind: 'end', text: 'the second log ends after 6, the other goes on' }); // prettier-ignore
  });
});
