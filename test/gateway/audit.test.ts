import { describe, expect, test } from 'vitest';

import type { OutcomeReport } from '../../src/protocol/authority.ts';
import { openAuditQueue } from '../../src/gateway/audit.ts';
import type { AuditQueue } from '../../src/gateway/audit.ts';
import { silent } from '../../src/gateway/log.ts';

const report = (callId: string, outcome: OutcomeReport['outcome'] = 'succeeded'): OutcomeReport => ({
  callId,
  outcome,
  durationMs: 1,
});

/** An authority that takes reports when it is let to. */
function authority(): {
  taken: string[];
  letGo: (answer: boolean) => void;
  audit: (r: OutcomeReport) => Promise<boolean>;
} {
  const taken: string[] = [];
  const held: ((answer: boolean) => void)[] = [];
  return {
    taken,
    letGo: (answer) => held.splice(0).forEach((resolve) => resolve(answer)),
    audit: (r) => (taken.push(r.callId), new Promise((resolve) => held.push(resolve))),
  };
}

const idle = async (queue: AuditQueue): Promise<void> => {
  while (queue.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('the audit queue', () => {
  test('delivers every report once', async () => {
    const taken: string[] = [];
    const queue = openAuditQueue({
      authority: { audit: (r) => Promise.resolve(taken.push(r.callId) > 0) },
      log: silent,
    });
    for (let i = 0; i < 100; i++) queue.report(report(String(i)));
    await idle(queue);
    expect([new Set(taken).size, taken.length, queue.dropped]).toEqual([100, 100, 0]);
  });

  test('tries again when nobody answered', async () => {
    let calls = 0;
    const audit = (): Promise<boolean> => (++calls === 1 ? Promise.reject(new Error('away')) : Promise.resolve(true));
    const queue = openAuditQueue({ authority: { audit }, log: silent });
    queue.report(report('a'));
    await idle(queue);
    expect([calls, queue.dropped]).toEqual([2, 0]);
  });

  test('drops the oldest ordinary report when it is full, keeps a refusal, and counts', async () => {
    const slow = authority();
    const queue = openAuditQueue({ authority: slow, log: silent, capacity: 10 });
    for (let i = 0; i < 8; i++) queue.report(report(`sending ${i}`));
    queue.report(report('refused', 'upstream_refused'));
    for (let i = 0; i < 4; i++) queue.report(report(`late ${i}`));
    expect(queue.dropped).toBe(3);
    slow.letGo(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    slow.letGo(true);
    await idle(queue);
    expect(slow.taken.slice(8)).toEqual(['refused', 'late 3']);
  });

  test('never drops a refusal for an ordinary report, and never holds more than it may while nobody answers', async () => {
    const slow = authority();
    const queue = openAuditQueue({ authority: slow, log: silent, capacity: 10 });
    for (let i = 0; i < 10; i++) queue.report(report(`refused ${i}`, 'upstream_refused'));
    queue.report(report('ordinary'));
    expect([queue.waiting, queue.dropped]).toEqual([10, 1]);
    slow.letGo(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    slow.letGo(true);
    await idle(queue);
    expect(slow.taken).not.toContain('ordinary');

    const away = openAuditQueue({ authority: { audit: () => Promise.resolve(false) }, log: silent, capacity: 10 });
    for (let i = 0; i < 30; i++) {
      away.report(report(String(i)));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect([away.waiting, away.dropped]).toEqual([10, 20]);
    await away.close(0);
  });

  test('ends in time with an authority that never answers, and counts what it could not deliver', async () => {
    const queue = openAuditQueue({ authority: authority(), log: silent, capacity: 20 });
    for (let i = 0; i < 12; i++) queue.report(report(String(i)));
    await queue.close(30);
    expect(queue.dropped).toBe(4);
  });
});
