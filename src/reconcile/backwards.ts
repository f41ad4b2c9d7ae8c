import type { RecordedEvent } from '../events/index.ts';

/** A log that is asked for one event reads and checks its whole run: a walk back, event by event, would pay for it each time. */
const STRETCH = 100;

/** Events by position, for who walks back: what lies shortly before one that was asked for is held. */
export function backwards(
  read: (from: number) => Iterable<RecordedEvent>,
): (position: number) => RecordedEvent | undefined {
  const held = new Map<number, RecordedEvent>();
  return (position) => {
    if (!held.has(position))
      for (const event of read(Math.max(1, position - STRETCH + 1))) {
        held.set(event.position, event);
        if (event.position >= position) break;
      }
    return held.get(position);
  };
}
