/** What every log promises, whatever stands behind the port. One suite, run on each of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadEvent, LogConflict, type EventLog, type NewEvent, type RowSource } from '../../src/events/index.ts';
import { activated, event, eventsOf, named, snapshot } from './samples.ts';

type Log = EventLog & RowSource;
const ids = (log: EventLog, from?: number): string[] => [...log.read(from)].map(({ id }) => id);
const positions = (log: EventLog, from?: number): number[] => [...log.read(from)].map(({ position }) => position);

/** `open` gives an empty log that is closed when the test ends. */
export function logContract(name: string, open: () => Promise<Log>): void {
  describe(`${name} keeps what every log promises`, () => {
    it('an empty log has head 0 and holds', async () => {
      const log = await open();
      expect([log.head, ids(log), log.verify().broken, log.append([])]).toEqual([0, [], null, []]);
    });

    it('positions are gap-free from 1, and what is appended is read back in order', async () => {
      const log = await open();
      const events = [event(activated('ann')), event(snapshot('ann', '7'), 1), event()];
      const recorded = [...log.append(events.slice(0, 2)), ...log.append(events.slice(2))];
      expect(recorded.map(({ position }) => position)).toEqual([1, 2, 3]);
      expect([...log.read()]).toEqual(recorded);
      expect(recorded.map(({ id, at, cause, data }) => ({ id, at, cause, data }))).toEqual(
        events.map(({ id, at, cause, data }) => ({ id, at, cause, data })),
      );
    });

    it('an id that is recorded keeps its position and its first content', async () => {
      const log = await open();
      const [first] = log.append([named('same')]);
      const again = log.append([{ ...event(activated('bob')), id: 'same' }]);
      expect(again).toEqual([first]);
      expect([log.head, log.positionOf('same'), log.positionOf('other')]).toEqual([1, 1, undefined]);
    });

    it('an id twice in one batch is recorded once, and the others of the batch stand without gaps', async () => {
      const log = await open();
      log.append([named('old')]);
      const recorded = log.append([named('a'), named('old'), named('b'), { ...event(activated('ann')), id: 'a' }]);
      expect(recorded.map(({ position }) => position)).toEqual([2, 1, 3, 2]);
      expect([recorded[0]!.type, recorded[3]]).toEqual(['clock.ticked', recorded[0]]);
      expect(ids(log)).toEqual(['old', 'a', 'b']);
      expect(log.verify()).toMatchObject({ batches: 2, broken: null });
    });

    it('an expected head that is not the head is a conflict and records nothing', async () => {
      const log = await open();
      log.append(eventsOf(2), 0);
      expect(() => log.append(eventsOf(1), 1)).toThrow(LogConflict);
      expect([log.head, log.append(eventsOf(1), 2)[0]?.position]).toEqual([2, 3]);
    });

    it('callers that interleave each get positions of their own', async () => {
      const log = await open();
      const caller = async (): Promise<number[]> => {
        const mine: number[] = [];
        for (const batch of [1, 3, 2]) {
          mine.push(...log.append(eventsOf(batch)).map(({ position }) => position));
          await Promise.resolve();
        }
        return mine;
      };
      const all = (await Promise.all(Array.from({ length: 8 }, caller))).flat();
      expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, index) => index + 1));
    });

    it('of callers that expect the same head one wins and the others are told', async () => {
      const log = await open();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, async () => {
          const { head } = log;
          await Promise.resolve();
          return log.append(eventsOf(1), head);
        }),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(log.head).toBe(1);
    });

    it('is read from any position, also from the middle of a batch', async () => {
      const log = await open();
      log.append(eventsOf(4));
      log.append(eventsOf(2));
      expect([1, 3, 5, 6, 7].map((from) => positions(log, from)[0])).toEqual([1, 3, 5, 6, undefined]);
    });

    it('may be appended to while it is read, and that reading ends where it began to end', async () => {
      const log = await open();
      log.append(eventsOf(1_500));
      let seen = 0;
      for (const { position } of log.read()) if (++seen && position % 500 === 0) log.append(eventsOf(700));
      expect([seen, log.head]).toEqual([1_500, 3_600]);
    });

    it('what could not be kept exactly is refused with the field, and nothing is recorded', async () => {
      const log = await open();
      const bad: [Partial<NewEvent>, string][] = [
        [{ id: 'two words' }, 'id'],
        [{ id: '' }, 'id'],
        [{ at: 1.5 }, 'at'],
        [{ at: Number.NaN }, 'at'],
        [{ cause: 2 }, 'cause'],
        [{ type: 'route.renamed' as never }, 'type'],
      ];
      for (const [change, path] of bad)
        expect(() => log.append([event(), { ...event(), ...change } as NewEvent])).toThrow(
          expect.objectContaining({ constructor: BadEvent, path }),
        );
      expect(log.head).toBe(0);
    });

    it('keeps the first state hash of a position, and none where there is no event', async () => {
      const log = await open();
      log.append(eventsOf(3));
      log.mark(3, 'c');
      log.mark(1, 'a');
      log.mark(1, 'b');
      expect([...log.marks()].map(({ position, stateHash }) => [position, stateHash])).toEqual([
        [1, 'a'],
        [3, 'c'],
      ]);
      expect(() => log.mark(4, 'd')).toThrow(RangeError);
    });

    it('numbers beyond 2^53 come back digit by digit', async () => {
      const log = await open();
      log.append([event(snapshot('ann', '18446744073709551615')), event(snapshot('ann', '9007199254740993'))]);
      expect([...log.read()].map(({ data }) => (data as { revision: string }).revision)).toEqual([
        '18446744073709551615',
        '9007199254740993',
      ]);
    });

    it('has one link a batch, on its last row, over all rows before it', async () => {
      const log = await open();
      log.append(eventsOf(3));
      log.append(eventsOf(1));
      const links = [...log.rows()].map(({ link }) => link);
      expect(links.map((link) => link !== null)).toEqual([false, false, true, true]);
      expect(log.verify()).toEqual({ events: 4, head: 4, batches: 2, link: links[3], broken: null });
    });

    it('records what a list would, whatever is repeated', async () => {
      const log = await open();
      const batches = fc.array(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 6 }), { maxLength: 6 });
      const expected = [...log.read()].map(({ id }) => id);
      fc.assert(
        fc.property(batches, (numbers) => {
          for (const batch of numbers) {
            const wanted = batch.map((number) => `n-${number}`);
            const recorded = log.append(wanted.map((id) => named(id)));
            for (const id of wanted) if (!expected.includes(id)) expected.push(id);
            expect(recorded.map(({ position }) => expected[position - 1])).toEqual(wanted);
          }
          expect([log.head, ids(log)]).toEqual([expected.length, expected]);
        }),
        { numRuns: 40 },
      );
      expect(log.verify().broken).toBeNull();
    });
  });
}
