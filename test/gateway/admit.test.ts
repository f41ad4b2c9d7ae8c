import { describe, expect, test } from 'vitest';

import type { Principal, Upstream } from '../../src/protocol/authority.ts';
import { openAdmission } from '../../src/gateway/admit/admission.ts';
import { FAILURES_TO_OPEN, openBreaker, PROBE_EVERY_MS } from '../../src/gateway/admit/breaker.ts';
import { openBulkhead } from '../../src/gateway/admit/bulkhead.ts';
import { openRate } from '../../src/gateway/admit/rate.ts';
import { gatewayLimits } from '../../src/gateway/bounds.ts';

const ann = { tenantId: 1n, principalId: 1n } as Principal;
const bob = { tenantId: 1n, principalId: 2n } as Principal;
const upstream = { endpoint: 'https://api.ok/mcp', limits: {} } as Upstream;

describe('a bulkhead', () => {
  test('holds its limit, and gives a place back once however often it is told', () => {
    const bulkhead = openBulkhead();
    const leave = bulkhead.enter('a', 2);
    expect([
      bulkhead.enter('a', 2) !== undefined,
      bulkhead.enter('a', 2),
      bulkhead.enter('b', 1) !== undefined,
    ]).toEqual([true, undefined, true]);
    leave?.();
    leave?.();
    expect(bulkhead.taken('a')).toBe(1);
  });
});

describe('a rate', () => {
  test('lets a burst through, then says how long to wait, then lets one through after that', () => {
    let now = 0;
    const rate = openRate({ perSecond: 2, burst: 3 }, () => now);
    expect([rate.take('a'), rate.take('a'), rate.take('a'), rate.take('a'), rate.take('b')]).toEqual([0, 0, 0, 500, 0]);
    now = 500;
    expect([rate.take('a'), rate.take('a')]).toEqual([0, 500]);
  });
});

describe('a breaker', () => {
  test('opens after failures in a row, lets one probe through every ten seconds, and closes with one success', () => {
    let now = 0;
    const breaker = openBreaker(() => now);
    for (let i = 0; i < FAILURES_TO_OPEN; i++) breaker.failed('a');
    expect([breaker.ask('a'), breaker.ask('b')]).toEqual([PROBE_EVERY_MS, 0]);
    now = PROBE_EVERY_MS;
    expect([breaker.ask('a'), breaker.ask('a')]).toEqual([0, PROBE_EVERY_MS]);
    breaker.succeeded('a');
    expect(breaker.ask('a')).toBe(0);
  });

  test('stays closed when a success comes between failures', () => {
    const breaker = openBreaker(() => 0);
    for (let i = 0; i < 20; i++) (breaker.failed('a'), i % 4 === 3 && breaker.succeeded('a'));
    expect(breaker.ask('a')).toBe(0);
  });
});

describe('admission', () => {
  const open = (): ReturnType<typeof openAdmission> =>
    openAdmission({ ...gatewayLimits, requests: 3, perAccount: 1, perConnector: 2, rateBurst: 4 }, () => 0);

  test('refuses one account beyond its places and serves another on the same connector', () => {
    const admission = open();
    admission.forward('c', ann, upstream);
    expect(() => admission.forward('c', ann, upstream)).toThrow('too many requests of this account');
    expect(() => admission.forward('c', bob, upstream)).not.toThrow();
  });

  test("gives the account's place back when the connector has none left", () => {
    const admission = open();
    const narrow = { ...upstream, limits: { concurrency: 1 } };
    admission.forward('c', bob, narrow);
    expect(() => admission.forward('c', ann, narrow)).toThrow('connector');
    expect(() => admission.forward('d', ann, narrow)).not.toThrow();
  });

  test('answers -33005 with a time to wait, and takes the place back when the request ends', () => {
    const admission = open();
    const places = [admission.enter(), admission.enter(), admission.enter()];
    expect(() => admission.enter()).toThrow(
      expect.objectContaining({ answer: expect.objectContaining({ code: -33005, retryAfterMs: 1000 }) }),
    );
    places.forEach((place) => place.leave());
    expect([admission.underWay, admission.enter() !== undefined]).toEqual([0, true]);
  });

  test('answers -33003 while an upstream is known to be down for an account, and lets another account find out itself', () => {
    const admission = open();
    for (let i = 0; i < FAILURES_TO_OPEN; i++) {
      const place = admission.forward('c', ann, upstream);
      (place.away(), place.leave());
    }
    expect(() => admission.forward('c', bob, upstream)).not.toThrow();
    expect(() => admission.forward('c', ann, upstream)).toThrow(
      expect.objectContaining({ answer: expect.objectContaining({ code: -33003, retryAfterMs: PROBE_EVERY_MS }) }),
    );
  });
});
