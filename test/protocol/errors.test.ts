import { describe, expect, it } from 'vitest';
import {
  answerError,
  classify,
  errorTable,
  type FailureKind,
  failureError,
  formatRetryAfter,
  isReservedCode,
  McpError,
  openFailure,
  parseRetryAfter,
} from '../../src/protocol/index.ts';

const now = Date.UTC(2026, 7, 1, 12, 0, 0);
const kindOf = (status: number, code?: number): string => {
  const verdict = classify({ status, error: code === undefined ? undefined : { code, message: '' } }, now);
  return verdict.kind === 'rejected' ? `rejected ${verdict.code}` : verdict.kind;
};

describe('the table of errors', () => {
  it('names every code once', () => {
    expect(new Set(errorTable.map(({ code }) => code)).size).toBe(errorTable.length);
    expect(new Set(errorTable.map(({ name }) => name)).size).toBe(errorTable.length);
  });

  it.each([
    [-33001, 'authorization_required', 428],
    [-33002, 'reauth_required', 428],
    [-33003, 'connector_unavailable', 503],
    [-33004, 'upstream_timeout', 504],
    [-33005, 'upstream_rate_limited', 429],
    [-33006, 'upstream_protocol_error', 502],
    [-32601, 'method_not_found', 404],
    [-32602, 'invalid_params', 400],
    [-32020, 'header_mismatch', 400],
    [-32021, 'missing_client_capability', 400],
    [-32022, 'unsupported_protocol_version', 400],
  ])('answers %i as %s with status %i', (code, name, status) => {
    expect(new McpError(code)).toMatchObject({ name, httpStatus: status });
  });

  it('reserves the codes that only our gateway may say', () => {
    expect([-33001, -33006, -32020, -32022].every(isReservedCode)).toBe(true);
    expect([-33000, -33007, -32019, -32023, -32601, 428].some(isReservedCode)).toBe(false);
  });
});

describe('classify', () => {
  it.each([
    [428, undefined, 'rejected 428'],
    [428, -32600, 'rejected 428'],
    [428, -33002, 'rejected -33002'],
    [200, -33001, 'rejected -33001'],
    [400, -33001, 'rejected -33001'],
    [503, -33002, 'rejected -33002'],
    [200, -33003, 'unavailable'],
    [503, undefined, 'unavailable'],
    [500, -32603, 'unavailable'],
    [200, -33004, 'timeout'],
    [504, undefined, 'timeout'],
    [408, undefined, 'timeout'],
    [200, -33005, 'limited'],
    [429, undefined, 'limited'],
    [200, -33006, 'protocol'],
    [502, undefined, 'protocol'],
    [302, undefined, 'protocol'],
    [200, undefined, 'protocol'],
    [404, -32601, 'contract'],
    [200, -32601, 'contract'],
    [409, undefined, 'contract'],
    [400, -32020, 'contract'],
    [400, -32022, 'contract'],
    [401, undefined, 'session'],
    [403, undefined, 'session'],
    [200, -32602, 'error'],
    [400, -32602, 'error'],
    [200, 7, 'error'],
    [200, -32002, 'error'],
  ])('status %i with code %s is %s', (status, code, expected) => {
    expect(kindOf(status, code)).toBe(expected);
  });

  it('never reads an authorization failure out of -33006, or one of an integration out of -33001', () => {
    for (let status = 200; status < 600; status++) {
      expect(kindOf(status, -33006)).toBe('protocol');
      expect(kindOf(status, -33001)).toBe('rejected -33001');
    }
  });

  it('gives an activation a reason of the log for every kind', () => {
    const kinds: readonly FailureKind[] = [
      'rejected',
      'unavailable',
      'timeout',
      'limited',
      'protocol',
      'contract',
      'session',
      'error',
      'aborted',
    ];
    expect(kinds.map(openFailure)).toEqual([
      'rejected',
      'unavailable',
      'timeout',
      'limited',
      'protocol',
      'contract',
      'unavailable',
      'contract',
      'aborted',
    ]);
  });
});

describe('Retry-After', () => {
  it.each([
    ['3', 3_000],
    ['0', 1_000],
    ['-1', undefined],
    ['99999999999', 3_600_000],
    ['1.5', undefined],
    ['5 seconds', undefined],
    ['soon', undefined],
    ['', undefined],
    ['Sat, 01 Aug 2026 12:00:30 GMT', 30_000],
    ['Sat, 01 Aug 2026 11:00:00 GMT', 1_000],
    ['Sat, 01 Aug 2099 11:00:00 GMT', 3_600_000],
    ['Sat, 41 Aug 2026 12:00:30 GMT', undefined],
    [['2', '7'], 7_000],
    [['x', '7'], 7_000],
    [undefined, undefined],
  ])('%j waits %s ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  it('is read from the headers first, else from the data of the error', () => {
    const error = { code: -33005, message: '', data: { retryAfterMs: 4_000 } };
    expect(classify({ status: 429, error, headers: {} }, now).retryAfterMs).toBe(4_000);
    expect(classify({ status: 429, error, headers: { 'retry-after': '9' } }, now).retryAfterMs).toBe(9_000);
  });

  it('is written in whole seconds, at least one', () => {
    expect([0, 1, 1_000, 1_001, 9e9].map(formatRetryAfter)).toEqual(['1', '1', '1', '2', '3600']);
  });
});

describe('an answered error', () => {
  it('carries its delay, its data unchanged, and the id of its request', () => {
    const answer = answerError(null, new McpError(-33005, { dataText: '{"n":9007199254740993}', retryAfterMs: 2_500 }));
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
    expect(answer.body).toContain('"id":null');
    expect(answer.body).toContain('{"n":9007199254740993}');
  });

  it('is told in-band to a client of the initialize era', () => {
    expect(answerError('1' as never, new McpError(-32601), 'legacy').status).toBe(200);
    expect(answerError(null, new McpError(-32700), 'legacy').status).toBe(400);
  });

  it('says of a refused session that it is one, and nothing of what the gateway answered', () => {
    const base = { kind: 'session', status: 401, message: 'm', retryAfterMs: undefined, mayHaveRun: false } as const;
    for (const error of [undefined, { code: -32600, message: 'theirs' }])
      expect(failureError({ ...base, code: error?.code, error })).toMatchObject({
        code: -33003,
        data: { accountSession: 'refused' },
      });
  });

  it('tells an agent the server’s own code and data, and a bare 428 as -33001', () => {
    const base = { message: 'm', status: 428, retryAfterMs: undefined, mayHaveRun: false };
    expect(failureError({ ...base, kind: 'rejected', code: 428, error: undefined }).code).toBe(-33001);
    expect(failureError({ ...base, kind: 'rejected', code: 428, error: { code: -1, message: 'x' } }).code).toBe(-33001);
    const own = { code: -7, message: 'theirs', data: { a: 1 }, dataText: '{"a":1.0}' };
    expect(failureError({ ...base, kind: 'error', code: -7, error: own })).toMatchObject({
      code: -7,
      message: 'theirs',
      dataText: '{"a":1.0}',
      httpStatus: 200,
    });
    expect(
      failureError({ ...base, kind: 'timeout', code: undefined, error: undefined, mayHaveRun: true }).data,
    ).toEqual({ outcomeUnknown: true });
  });
});
