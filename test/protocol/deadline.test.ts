import { expect, onTestFinished, test } from 'vitest';
import { type Deadline, openDeadline } from '../../src/protocol/deadline.ts';
import { Ending, type Stop } from '../../src/protocol/stop.ts';

const long = { firstByteMs: 60_000, gapMs: 60_000, totalMs: 60_000 };

function open(outer: Stop | AbortSignal): Deadline {
  const deadline = openDeadline(long, outer);
  onTestFinished(() => deadline.close());
  return deadline;
}

test('two deadlines over one caller: one closes, and the other still hears that the caller gave up', () => {
  const caller = new Ending();
  const [first, second] = [open(caller), open(caller)];
  second.close();
  caller.end(new Error('gone'));
  expect([first.ended, second.ended]).toEqual(['aborted', undefined]);
});

test('a deadline over a caller who gave up before is over from its start', () => {
  const caller = new Ending();
  caller.end(new Error('gone'));
  expect([open(caller).ended, open(AbortSignal.abort()).ended]).toEqual(['aborted', 'aborted']);
});

test('a deadline hears a signal until it closes', () => {
  const caller = new AbortController();
  const [first, second] = [open(caller.signal), open(caller.signal)];
  second.close();
  caller.abort();
  expect([first.ended, second.ended]).toEqual(['aborted', undefined]);
});

test('a listener that listens twice is called twice, or once when one of the two was let go', () => {
  const stop = new Ending();
  const heard: string[] = [];
  const listener = ({ message }: Error): void => void heard.push(message);
  const release = stop.listen(listener);
  stop.listen(listener);
  release();
  release();
  stop.end(new Error('first'));
  stop.end(new Error('second'));
  stop.listen(listener);
  expect(heard).toEqual(['first', 'first']);
});
