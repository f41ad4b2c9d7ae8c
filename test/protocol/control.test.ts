import { describe, expect, it } from 'vitest';
import {
  BadSnapshot,
  hashConnectionId,
  hintFrame,
  hintGreeting,
  hintPing,
  hintUrl,
  type HintFrame,
  isConnectorId,
  limits,
  readClientFrame,
  readHintFrame,
  readSnapshot,
  readUint64,
  readyFrame,
  type Snapshot,
  snapshotText,
} from '../../src/protocol/index.ts';
import { corpora, corpusFiles } from '../support/protocol/corpora.ts';

const read = (body: unknown): Snapshot =>
  readSnapshot(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), { account: 'ann' });
function refusalOf(body: unknown): string {
  try {
    read(body);
  } catch (error) {
    if (error instanceof BadSnapshot) return error.reason;
    throw error;
  }
  return 'accepted';
}
const docs = {
  connectorId: 'docs',
  connectorVersion: '0.2.0',
  state: 'connected',
  connectionId: 'c-1',
  connectionVersion: '4',
};
const one = (changes: object, more: object = {}): Snapshot =>
  read({ revision: '12', connectors: [{ ...docs, ...changes }], ...more });

describe('a snapshot', () => {
  it('is read with numbers as JSON numbers or as text', () => {
    const snapshot = read(
      '{"revision":"12","connectors":[{"connectorId":"docs","state":"CONNECTED","connectionId":"c-1","connectionVersion":7}]}',
    );
    expect(snapshot).toMatchObject({ revision: '12', serverEpoch: null, complete: true, anomalies: [] });
    expect(snapshot.entries.get('docs')).toEqual({
      state: 'connected',
      connectionVersion: '7',
      connectionIdHash: hashConnectionId('c-1'),
      releaseVersion: null,
    });
  });

  it('keeps a revision of 2^53+1 that came as a JSON number', () => {
    expect(read('{"connectors":[],"revision":9007199254740993}').revision).toBe('9007199254740993');
    expect(read('{"connectors":[],"revision":18446744073709551615}').revision).toBe('18446744073709551615');
  });

  it.each(['18446744073709551616', '-1', '1.0', '1e3', '""', '" 1"', '"0x1"', 'null', 'true'])(
    'is refused with revision %s',
    (revision) => {
      expect(refusalOf(`{"connectors":[],"revision":${revision}}`)).toBe('revision');
    },
  );

  it.each([
    ['an empty body', '', 'json'],
    ['a web page', '<html></html>', 'json'],
    ['a cut body', '{"revision":"1","connectors":[', 'json'],
    ['a name given twice', '{"revision":"1","revision":"2","connectors":[]}', 'json'],
    ['a list', '[]', 'shape'],
    ['no connectors', '{"revision":"1"}', 'shape'],
    ['connectors that are no list', '{"revision":"1","connectors":{}}', 'shape'],
    ['another account', '{"accountId":"bob","revision":"1","connectors":[]}', 'account'],
    ['a server epoch that is no number', '{"serverEpoch":"x","revision":"1","connectors":[]}', 'serverEpoch'],
    ['too many bytes', `{"revision":"1","connectors":[],"x":"${'x'.repeat(limits.snapshotBytes)}"}`, 'size'],
  ])('is refused as a whole on %s', (_what, body, reason) => {
    expect(refusalOf(body)).toBe(reason);
  });

  it('is never "no connectors" for any file of JSONTestSuite', () => {
    const files = corpusFiles('json', 'test_parsing');
    expect(files.filter(({ bytes }) => refusalOf(bytes.toString('latin1')) === 'accepted')).toEqual([]);
    expect(files.length > 300).toBe(corpora !== undefined);
  });

  it.each([
    ['an unknown state', { state: 'paused' }],
    ['connected without a connection', { connectionId: '' }],
    ['a connection id that is no text', { connectionId: 7 }],
    ['connected without a version', { connectionVersion: null }],
    ['a version that is no number', { connectionVersion: '1.5' }],
    ['a release that is no text', { connectorVersion: {} }],
  ])('tells a line with %s as unreadable and applies the others', (_what, changes) => {
    const snapshot = read({
      revision: '1',
      connectors: [
        { ...docs, ...changes },
        { ...docs, connectorId: 'mail' },
      ],
    });
    expect(snapshot.entries.get('docs')).toBe('unreadable');
    expect(snapshot.entries.get('mail')).toMatchObject({ state: 'connected' });
    expect(snapshot).toMatchObject({ complete: true, anomalies: [expect.stringMatching(/^docs /)] });
  });

  it('tells a connector that is named twice as unreadable', () => {
    const snapshot = read({ revision: '1', connectors: [docs, { ...docs, state: 'disconnected' }] });
    expect([...snapshot.entries]).toEqual([['docs', 'unreadable']]);
  });

  it('needs no version and no connection of what is not connected', () => {
    expect(
      one({ state: 'disconnected', connectionId: undefined, connectionVersion: undefined }).entries.get('docs'),
    ).toMatchObject({ state: 'disconnected', connectionVersion: '0', connectionIdHash: null });
  });

  it('is incomplete when it says so, when its count differs, or when a line names no connector', () => {
    expect(one({}).complete).toBe(true);
    expect(one({}, { complete: true, count: 1 }).complete).toBe(true);
    expect(one({}, { complete: false }).complete).toBe(false);
    expect(one({}, { count: 2 }).complete).toBe(false);
    expect(one({ connectorId: '' })).toMatchObject({ complete: false, anomalies: ['line 0 names no connector'] });
    expect(one({ connectorId: '../x' }).complete).toBe(false);
  });

  it('comes back as it was written', () => {
    const written = snapshotText({
      accountId: 'ann',
      revision: '18446744073709551615',
      serverEpoch: '3',
      connectors: [{ ...docs, state: 'connected' }],
    });
    expect(read(written)).toMatchObject({ revision: '18446744073709551615', serverEpoch: '3', complete: true });
    expect(read(written).entries.get('docs')).toMatchObject({ releaseVersion: '0.2.0' });
  });

  it('keeps no connection id, only its hash', () => {
    expect(JSON.stringify([...one({}).entries])).not.toContain('c-1');
  });
});

describe('names and numbers', () => {
  it.each(['../x', 'a%2f', 'a?b', 'a#b', '', '\u0430bc', '__proto__', 'a/b', '-a', 'x'.repeat(200)])(
    'refuse the connector id %j',
    (id) => {
      expect(isConnectorId(id)).toBe(false);
    },
  );

  it('read canonical uint64 text', () => {
    expect(readUint64('"007"')).toBe('7');
    expect(readUint64('0')).toBe('0');
    expect(readUint64(undefined)).toBeUndefined();
  });
});

const hintOf = (frame: unknown): HintFrame => readHintFrame(typeof frame === 'string' ? frame : JSON.stringify(frame));
const changed = { protocol_version: 2, event_type: 'connector.authorization.changed', dispatch_id: 'd-55' };

describe('a hint', () => {
  it('is read from an object and from Base64 alike', () => {
    const payload = { revision: 13, connectorId: 'github' };
    const encoded = Buffer.from(JSON.stringify(payload)).toString('base64');
    const expected = { kind: 'hint', revision: '13', connector: 'github', account: 'u-1', dispatchId: 'd-55' };
    expect(hintOf({ ...changed, payload, delivery: { user_id: 'u-1' } })).toEqual(expected);
    expect(hintOf({ ...changed, payload: encoded, delivery: { user_id: 'u-1' } })).toEqual(expected);
  });

  it('keeps a revision of 2^53+1, in both forms', () => {
    const payload = '{"revision":9007199254740993}';
    expect(hintOf(`{"type":"connector.authorization.changed","payload":${payload}}`)).toMatchObject({
      revision: '9007199254740993',
    });
    expect(hintOf({ ...changed, payload: Buffer.from(payload).toString('base64') })).toMatchObject({
      revision: '9007199254740993',
    });
  });

  it('is still a hint when its revision or connector cannot be read', () => {
    expect(hintOf({ ...changed, payload: { revision: 'x', connectorId: '../' } })).toMatchObject({
      kind: 'hint',
      revision: null,
      connector: null,
    });
    expect(hintOf({ ...changed, payload: { revision: 0 } })).toMatchObject({ kind: 'hint', revision: null });
  });

  it.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['another event', '{"event_type":"x","payload":{}}'],
    ['no payload', JSON.stringify(changed)],
    ['bad Base64', JSON.stringify({ ...changed, payload: '%%' })],
    ['a frame too large', `{"x":"${'x'.repeat(70_000)}"}`],
  ])('is ignored when it is %s', (_what, frame) => {
    expect(hintOf(frame).kind).toBe('ignored');
  });

  it('never throws on any file of JSONTestSuite', () => {
    for (const { bytes } of corpusFiles('json', 'test_parsing')) expect(readHintFrame(bytes).kind).toBe('ignored');
  });

  it('comes back as it was written, and so does the greeting', () => {
    const written = hintFrame({
      revision: '9007199254740993',
      connector: null,
      account: 'ann',
      deviceId: 'd',
      dispatchId: 'x',
    });
    expect(readHintFrame(written)).toEqual({
      kind: 'hint',
      revision: '9007199254740993',
      connector: null,
      account: 'ann',
      dispatchId: 'x',
    });
    expect(readHintFrame(readyFrame('7'))).toEqual({ kind: 'ready', connectionGeneration: '7' });
  });
});

describe('the frames of a client', () => {
  it('are the greeting of the facts, then pings', () => {
    const [initialize, init] = hintGreeting('dev-1');
    expect(initialize).toBe('{"action":"connection.initialize","data":{"protocolVersion":2}}');
    expect(init).toBe('{"action":"init","data":{"deviceId":"dev-1"}}');
    expect(hintPing(5)).toBe('{"action":"ping","data":{"ts":5}}');
    expect(hintUrl('wss://ws.tutti.sh/', 'a b')).toBe('wss://ws.tutti.sh/?deviceId=a+b');
  });

  it('are read by a server, and anything else is none of them', () => {
    expect(hintGreeting('d').map(readClientFrame)).toEqual([
      { action: 'connection.initialize', protocolVersion: 2 },
      { action: 'init', deviceId: 'd' },
    ]);
    expect(readClientFrame(hintPing(1))).toEqual({ action: 'ping', ts: 1 });
    expect(['{}', '[]', '{', '{"action":"init"}'].map(readClientFrame)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
