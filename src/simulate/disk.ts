/**
 * The durable log under a process that may be killed at any write, and whose disk may be full or fail. What stands behind it is
 * the shipped log in memory: it outlives the process that writes to it, which is all that durable means here.
 */
import {
  LogUnavailable,
  memoryLog,
  type EventLog,
  type LoggedEvent,
  type NewEvent,
  type RecordedEvent,
} from '../events/index.ts';
import type { Weather } from './faults.ts';

/** The process is gone in the middle of what it was doing. Nothing after this is anybody's any more. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** A process as far as the disk knows it. */
export interface Mortal {
  readonly alive: boolean;
  /** The process ends here and now. */
  kill(): void;
  /** What it has written is written. */
  recorded(events: readonly NewEvent[]): void;
}

export class Disk {
  readonly log: EventLog = memoryLog();
  readonly #weather: Weather;
  full = false;
  /** Somebody else has written since this process started: what it does from here on is only to give up. */
  intruded = false;

  constructor(weather: Weather) {
    this.#weather = weather;
  }

  /** Another process, which should not be there, writes a row. */
  intrude(event: NewEvent): void {
    this.log.append([event]);
    this.intruded = true;
  }

  /** When the newest event was recorded, so that time does not go back over a restart; 0: nothing is. */
  get newestAt(): number {
    for (const event of this.log.read(this.log.head)) return event.at;
    return 0;
  }

  /** The log as one process sees it. */
  for(life: Mortal): EventLog {
    const { log } = this;
    this.intruded = false;
    return {
      get head() {
        return log.head;
      },
      append: (events, expectedHead) => this.#append(life, events, expectedHead),
      read: (from) => this.#read(life, from),
      positionOf: (id) => log.positionOf(id),
      mark: (position, stateHash) => {
        log.mark(position, stateHash);
      },
      marks: () => log.marks(),
      verify: () => log.verify(),
      close: () => undefined,
    };
  }

  #append(life: Mortal, events: readonly NewEvent[], expectedHead?: number): readonly LoggedEvent[] {
    if (this.#weather.strikes('crash-before-write')) life.kill();
    if (!life.alive) throw new Killed('killed before the write');
    if (this.full || this.#weather.strikes('disk-error')) throw new LogUnavailable('the disk refuses');
    const recorded = this.log.append(events, expectedHead ?? this.log.head);
    life.recorded(events);
    if (this.#weather.strikes('crash-after-write')) life.kill();
    if (!life.alive) throw new Killed('killed after the write');
    return recorded;
  }

  *#read(life: Mortal, from?: number): Iterable<RecordedEvent> {
    const killed = from === undefined && this.log.head > 0 && this.#weather.strikes('crash-in-recovery');
    for (const event of this.log.read(from)) {
      if (killed && event.position * 2 > this.log.head) life.kill();
      if (!life.alive) throw new Killed('killed while the log was being read');
      yield event;
    }
  }
}
