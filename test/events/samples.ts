/** Events to append, and folders to put logs in. Ids and times are counted, so that a failing test prints the same twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { uint64, type Fact, type NewEvent, type Payload } from '../../src/events/index.ts';

const START = 1_700_000_000_000;
let count = 0;

/** A fact as an event with an id of its own. */
export function event(
  fact: Fact = { type: 'clock.ticked', data: { reason: 'poll' } },
  cause: number | null = null,
): NewEvent {
  count++;
  return { ...fact, id: `e-${count}`, at: START + count, cause };
}

export function eventsOf(number: number): readonly NewEvent[] {
  return Array.from({ length: number }, () => event());
}

/** The event with another id, or none of its own. */
export function named(id: string): NewEvent {
  return { ...event(), id };
}

export function snapshot(account: string, revision: string): Fact {
  const data: Payload<'snapshot.received'> = {
    account,
    epoch: 1,
    startedAt: 0,
    serverEpoch: null,
    revision: uint64(revision),
    complete: true,
    entries: {
      docs: {
        state: 'connected',
        connectionVersion: uint64(revision),
        connectionIdHash: 'c0ffee',
        releaseVersion: null,
      },
      mail: 'unreadable',
    },
  };
  return { type: 'snapshot.received', data };
}

export function activated(account: string): Fact {
  return { type: 'account.activated', data: { account, epoch: 1 } };
}

/** A folder of this test's own, gone when it ends. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'dacapo-log-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
