import { describe, expect, it } from 'vitest';
import {
  BadSession,
  cancelSessionRequest,
  completeSessionRequest,
  connectorPath,
  controlFailureText,
  disconnectRequest,
  observeSessionRequest,
  readControlFailure,
  readSession,
  readSessionCommand,
  type Session,
  type SessionExpectations,
  sessionText,
  startSessionRequest,
} from '../../src/protocol/index.ts';

const awaiting = {
  sessionId: 'as-1',
  connectorRevision: '0.2.0',
  status: 'AWAITING_USER',
  resultConnectionId: '',
  errorCode: '',
  nextAction: { type: 'redirect', url: 'https://idp.example/a' },
};
const read = (changes: object, expected: SessionExpectations = { connectorVersion: '0.2.0' }): Session =>
  readSession(Buffer.from(JSON.stringify({ session: { ...awaiting, ...changes } })), expected);

describe('requests of an authorization session', () => {
  it('are those of the facts', () => {
    expect(
      startSessionRequest({ connector: 'docs', clientRequestId: 'r', connectorVersion: '0.2.0', replace: true }),
    ).toEqual({
      method: 'POST',
      path: '/v1/connectors/docs/authorization-sessions',
      body: '{"clientRequestId":"r","connectorVersion":"0.2.0","replacementPolicy":"CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE"}',
    });
    expect(completeSessionRequest('as-1', 's')).toEqual({
      method: 'POST',
      path: '/v1/connector-authorization-sessions/as-1/complete',
      body: '{"secret":{"secret":"s"}}',
    });
    expect(observeSessionRequest('a/b')).toEqual({ method: 'GET', path: '/v1/connector-authorization-sessions/a%2Fb' });
    expect(cancelSessionRequest('as-1').method).toBe('DELETE');
    expect(disconnectRequest('docs')).toEqual({ method: 'DELETE', path: '/v1/connectors/docs/authorization' });
  });

  it('refuse an id that is more than a name, and a secret that no server takes', () => {
    expect(() => connectorPath('../admin', 'mcp')).toThrow(RangeError);
    expect(() => completeSessionRequest('as-1', '')).toThrow(RangeError);
    expect(() => completeSessionRequest('as-1', 'x'.repeat(16_385))).toThrow(/^a secret has/);
  });

  it('are read by a server, and its refusal never repeats the body', () => {
    const start = startSessionRequest({ connector: 'docs', clientRequestId: 'r', connectorVersion: '1' }).body ?? '';
    expect(readSessionCommand('start', Buffer.from(start))).toEqual({
      kind: 'start',
      clientRequestId: 'r',
      connectorVersion: '1',
      replace: false,
    });
    expect(readSessionCommand('complete', Buffer.from('{"secret":{"secret":"s"}}'))).toEqual({
      kind: 'complete',
      secret: 's',
    });
    expect(() => readSessionCommand('complete', Buffer.from('{"secret":"canary"}'))).toThrow(/^(?!.*canary)/);
    expect(() => readSessionCommand('start', Buffer.from('{"clientRequestId":"r"}'))).toThrow(BadSession);
  });
});

describe('a session reply', () => {
  it('is read with bare and with prefixed status', () => {
    expect(read({}).status).toBe('AWAITING_USER');
    expect(read({ status: 'CONNECTOR_AUTHORIZATION_SESSION_STATUS_PROCESSING' }).status).toBe('PROCESSING');
    expect(read({ nextAction: { type: 'submit_secret' } }).nextAction).toEqual({ type: 'submit_secret' });
  });

  it.each([
    ['another session', {}, { sessionId: 'as-2' }],
    ['another release', {}, { connectorVersion: '0.3.0' }],
    ['an unknown status', { status: 'DONE' }, {}],
    ['no session id', { sessionId: '' }, {}],
    ['success without a connection', { status: 'SUCCEEDED' }, {}],
    ['a redirect without TLS', { nextAction: { type: 'redirect', url: 'http://idp.example/' } }, {}],
    ['a redirect with user info', { nextAction: { type: 'redirect', url: 'https://a@idp.example/' } }, {}],
    ['a redirect to a program', { nextAction: { type: 'redirect', url: 'file:///bin/sh' } }, {}],
  ])('is refused on %s', (_what, changes, expected) => {
    expect(() => read(changes, expected)).toThrow(BadSession);
  });

  it('names an address as it was read, without what a terminal would obey', () => {
    const url = 'https://idp.example/a\u001b]52;c;x\u0007\nb?q=\u202e';
    expect(read({ nextAction: { type: 'redirect', url } }).nextAction).toMatchObject({
      url: expect.stringMatching(/^[\x21-\x7e]+$/) as string,
    });
  });

  it('comes back as it was written', () => {
    const session: Session = {
      ...awaiting,
      status: 'SUCCEEDED',
      resultConnectionId: 'c',
      errorCode: null,
      nextAction: null,
    };
    expect(readSession(Buffer.from(sessionText(session)), {})).toEqual(session);
  });
});

describe('a refusal of the control plane', () => {
  it.each([
    [401, 'session'],
    [403, 'forbidden'],
    [409, 'conflict'],
    [428, 'precondition'],
    [429, 'limited'],
    [503, 'unavailable'],
    [302, 'redirect'],
    [400, 'refused'],
  ])('of status %i is told as %s', (status, kind) => {
    expect(readControlFailure(status, {}, Buffer.from('<html>'), 0)).toMatchObject({ kind, code: null });
  });

  it('keeps the code of its body and the delay of its header', () => {
    const body = Buffer.from(controlFailureText('stale_revision', 'read again'));
    expect(readControlFailure(409, { 'retry-after': '2' }, body, 0)).toMatchObject({
      code: 'stale_revision',
      retryAfterMs: 2_000,
    });
    expect(readControlFailure(400, {}, Buffer.from('{"code":"<script>"}'), 0).code).toBeNull();
  });
});
