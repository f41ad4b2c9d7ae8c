/**
 * Reports how calls ended, off their path: a bounded queue that neither delays nor fails a call, and counts what it has to drop.
 *
 * An upstream's refusal is what makes the authority withdraw a connection, so it goes first and is the last to be dropped.
 */
import type { AuthorityPort, OutcomeReport } from '../protocol/authority.ts';
import type { Log } from './log.ts';

export interface AuditQueue {
  report(report: OutcomeReport): void;
  /** Reports not delivered: the queue was full, or the authority did not take them. */
  readonly dropped: number;
  /** Reports waiting or under way. */
  readonly waiting: number;
  /** Waits until everything is delivered or dropped, at most `withinMs`. */
  close(withinMs: number): Promise<void>;
}

export interface AuditOptions {
  readonly authority: Pick<AuthorityPort, 'audit'>;
  readonly log: Log;
  /** Reports kept at most, those that wait for another attempt too; the oldest of the less important goes first. */
  readonly capacity?: number;
}

interface Entry {
  readonly report: OutcomeReport;
  readonly attempts: number;
}

const CAPACITY = 10_000;
const SENDERS = 8;
const DEADLINE_MS = 3_000;
/** Waits between attempts. After the last, a report is dropped and counted. */
const AGAIN_AFTER_MS = [250, 1_000, 4_000, 15_000];

export function openAuditQueue({ authority, log, capacity = CAPACITY }: AuditOptions): AuditQueue {
  const urgent: Entry[] = [];
  const ordinary: Entry[] = [];
  const later = new Map<NodeJS.Timeout, OutcomeReport>();
  let closing = false;
  let sending = 0;
  let dropped = 0;

  const drop = (report: OutcomeReport | undefined, why: string): void => {
    if (report === undefined) return;
    dropped += 1;
    log('warn', 'an outcome was not reported', { callId: report.callId, outcome: report.outcome, why, dropped });
  };
  const attempt = async (entry: Entry): Promise<void> => {
    if (await taken(authority, entry.report)) return;
    const wait = AGAIN_AFTER_MS[entry.attempts];
    if (wait === undefined || closing) return drop(entry.report, 'the authority did not take it');
    const timer = setTimeout(() => (later.delete(timer), push({ ...entry, attempts: entry.attempts + 1 })), wait);
    later.set(timer, entry.report);
  };
  const work = async (): Promise<void> => {
    sending += 1;
    for (let next = urgent.shift() ?? ordinary.shift(); next !== undefined; next = urgent.shift() ?? ordinary.shift())
      await attempt(next);
    sending -= 1;
  };
  /** An ordinary report that waits for another attempt. */
  const takeLater = (): OutcomeReport | undefined => {
    for (const [timer, report] of later) {
      if (isUrgent(report)) continue;
      clearTimeout(timer);
      later.delete(timer);
      return report;
    }
    return undefined;
  };
  /** Whether there is a place for one more: the oldest that counts no more than it gives its own up. */
  const makeRoom = ({ report }: Entry): boolean => {
    if (waiting() < capacity) return true;
    const victim = ordinary.shift()?.report ?? takeLater() ?? (isUrgent(report) ? urgent.shift()?.report : undefined);
    drop(victim, 'the queue is full');
    return victim !== undefined;
  };
  const push = (entry: Entry): void => {
    if (!makeRoom(entry)) return drop(entry.report, 'the queue is full');
    (isUrgent(entry.report) ? urgent : ordinary).push(entry);
    if (sending < SENDERS) void work();
  };
  const waiting = (): number => urgent.length + ordinary.length + later.size + sending;

  return {
    get dropped() {
      return dropped;
    },
    get waiting() {
      return waiting();
    },
    report: (report) => push({ report, attempts: 0 }),
    async close(withinMs) {
      closing = true;
      const late = Date.now() + withinMs;
      while (urgent.length + ordinary.length + sending > 0 && Date.now() < late) await pause(20);
      for (const [timer, report] of later) (clearTimeout(timer), drop(report, 'the gateway ends'));
      later.clear();
      while (urgent.length + ordinary.length > 0)
        drop((urgent.shift() ?? ordinary.shift())?.report, 'the gateway ends');
    },
  };
}

const isUrgent = ({ outcome }: OutcomeReport): boolean => outcome === 'upstream_refused';

async function taken(authority: Pick<AuthorityPort, 'audit'>, report: OutcomeReport): Promise<boolean> {
  try {
    return await authority.audit(report, { deadlineMs: DEADLINE_MS });
  } catch {
    return false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
