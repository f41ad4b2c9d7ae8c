/** From an instant to a place in a log: "why was it gone at 14:02" is asked by the clock. */
import type { Recording } from './recording.ts';

/** Position of the last event at or before `atMs`; 0 when none is. *Errors*: those of reading the log. */
export function positionAt(log: Recording, atMs: number): number {
  let position = 0;
  for (const event of log.read()) {
    if (event.at > atMs) break;
    position = event.position;
  }
  return position;
}
