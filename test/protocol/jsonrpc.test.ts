import { describe, expect, it } from 'vitest';
import {
  BadMessage,
  encodeError,
  encodeRequest,
  encodeResult,
  type Id,
  makeId,
  type Message,
  parseId,
  parseJson,
  parseMessage,
} from '../../src/protocol/index.ts';

const read = (text: string): Message => parseMessage(parseJson(text));
function refusal(text: string): BadMessage {
  try {
    read(text);
  } catch (error) {
    if (error instanceof BadMessage) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('ids', () => {
  it('are compared exactly, above 2^53 too', () => {
    expect(parseId('9007199254740993')).not.toBe(parseId('9007199254740992'));
    expect(parseId('"1"')).not.toBe(parseId('1'));
    expect(parseId('"\\u0061"')).toBe(makeId('a'));
    expect(parseId('1e2')).toBe(makeId(100));
    expect(parseId('-0')).toBe(makeId(0));
  });

  it.each(['null', 'true', '1.5', '[]', '{}', '1e400', `"${'x'.repeat(300)}"`])('are refused as %s', (raw) => {
    expect(parseId(raw)).toBeUndefined();
  });

  it('come back in an answer as they were sent', () => {
    const request = read('{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}');
    expect(request.kind === 'request' && encodeResult(request.id, '{}')).toBe(
      '{"jsonrpc":"2.0","id":18446744073709551616,"result":{}}',
    );
  });
});

describe('messages', () => {
  it('are requests, notifications, results and errors', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":1.0}}')).toMatchObject({
      kind: 'request',
      paramsText: '{"n":1.0}',
    });
    expect(read('{"jsonrpc":"2.0","method":"m"}')).toMatchObject({ kind: 'notification', params: undefined });
    expect(read('{"jsonrpc":"2.0","id":"a","result":{"n":9007199254740993}}')).toMatchObject({
      kind: 'result',
      resultText: '{"n":9007199254740993}',
    });
    expect(
      read('{"jsonrpc":"2.0","id":null,"error":{"code":-33001,"message":"m","data":{"big":9007199254740993}}}'),
    ).toMatchObject({ kind: 'error', id: null, error: { code: -33001, dataText: '{"big":9007199254740993}' } });
  });

  it.each([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"m"}]'],
    ['no object', '"m"'],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"m"}'],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"m"}'],
    ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"m"}'],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}'],
    ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"m","params":[]}'],
    ['members of another case', '{"jsonrpc":"2.0","id":1,"Method":"m"}'],
    ['a request with a result', '{"jsonrpc":"2.0","id":1,"method":"m","result":{}}'],
    ['both result and error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}'],
    ['a result without an id', '{"jsonrpc":"2.0","result":{}}'],
    ['a result that is a list', '{"jsonrpc":"2.0","id":1,"result":[]}'],
    ['an error without a code', '{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}'],
  ])('are refused with %s', (_what, text) => {
    expect(refusal(text)).toBeInstanceOf(BadMessage);
  });

  it('carry their id into the refusal wherever it could be read', () => {
    expect(refusal('{"jsonrpc":"2.0","id":7,"method":"m","params":[]}').id).toBe('7');
    expect(refusal('{"jsonrpc":"2.0","id":{},"method":"m"}').id).toBeNull();
  });

  it('keep an error without a message, because its code may withdraw a route', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"error":{"code":-33002}}')).toMatchObject({
      error: { code: -33002, message: '' },
    });
  });

  it('are written with the raw text of their parts', () => {
    expect(encodeRequest(makeId(1), 'm', '{"a":1.0}')).toBe('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0}}');
    expect(encodeError('2' as Id, { code: 1, message: 'x', dataText: '{"a":1.0}' })).toBe(
      '{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x","data":{"a":1.0}}}',
    );
    expect(encodeError(null, { code: 1, message: 'x', data: [1] })).toContain(
      '"id":null,"error":{"code":1,"message":"x","data":[1]}',
    );
  });
});
