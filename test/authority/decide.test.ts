import { describe, expect, test } from 'vitest';
import { demoSeed } from '../../src/authority/index.ts';
import {
  callLeaseMs,
  decideAccess,
  decideCall,
  riskOf,
  type CallAsked,
  type Confirmation,
  type EarlierCall,
  type Gathered,
} from '../../src/authority/decide.ts';

const [binding] = demoSeed({ everythingEndpoint: 'https://mcp.example.com/mcp' }).bindings;
if (binding === undefined) throw new Error('the demo has one binding');
const published = {
  revision: 1,
  contractHash: 'sha256:0',
  binding: { ...binding, connectorVersions: { from: '1.0.0', before: '2.0.0' } },
};
const account = { id: 'ann', number: 1, displayName: 'Ann', enabled: true };
const all: Gathered = { account, binding: published, connection: { id: 'c', version: 1, state: 'connected' } };

describe('access', () => {
  test.each<[string, Partial<Gathered>, string]>([
    ['with everything in place', {}, 'authorized'],
    ['without a session', { account: null }, 'unauthenticated'],
    ['without a session or anything else', { account: null, binding: null, connection: null }, 'unauthenticated'],
    ['of a disabled account', { account: { ...account, enabled: false } }, 'account_disabled'],
    ['without a binding', { binding: null }, 'unknown_connector'],
    ['without a connection', { connection: null }, 'authorization_required'],
    [
      'with a connection that no longer holds',
      { connection: { id: 'c', version: 1, state: 'reauth_required' } },
      'reauth_required',
    ],
  ])('%s', (_name, changed, said) => {
    const access = decideAccess({ ...all, ...changed }, '1.0.0');
    expect('reason' in access ? access.reason : access.outcome).toBe(said);
  });

  test('to a connector that asks for no authorization needs an account and no connection', () => {
    const open = { ...published, binding: { ...published.binding, authorization: 'none' as const } };
    expect(decideAccess({ ...all, binding: open, connection: null }, '1.0.0').outcome).toBe('authorized');
    expect(decideAccess({ account: null, binding: open, connection: null }, '1.0.0').outcome).toBe('unauthenticated');
  });

  test('at a release outside the range of the binding is refused before anything is said about the connection', () => {
    const access = decideAccess({ ...all, connection: null }, '2.0.0');
    expect(access).toMatchObject({ outcome: 'rejected', reason: 'connector_version_unsupported' });
  });
});

const now = 1_000_000_000;
const asked: CallAsked = {
  toolName: 'echo',
  argumentDigest: 'd',
  definitionHash: 'h',
  idempotencyKey: 'k',
  confirmId: '',
};
const none = { risk: 'LOW', connectionId: 'c', earlier: null, confirmation: null } as const;
const earlier: EarlierCall = { toolName: 'echo', argumentDigest: 'd', decidedAtMs: now, outcome: null };
const confirmation: Confirmation = {
  id: 'id',
  connectionId: 'c',
  toolName: 'echo',
  argumentDigest: 'd',
  definitionHash: 'h',
  state: 'approved',
  expiresAtMs: now + 1,
};
const said = (verdict: ReturnType<typeof decideCall>): string =>
  'verdict' in verdict ? verdict.verdict : 'reason' in verdict ? verdict.reason : verdict.outcome;

describe('a call', () => {
  test.each<[string, Partial<CallAsked>, string]>([
    ['without a key', { idempotencyKey: '' }, 'call'],
    ['with a new key', {}, 'call'],
    ['without a tool', { toolName: '' }, 'malformed'],
    ['without a digest', { argumentDigest: '' }, 'malformed'],
    ['with a name longer than any tool has', { toolName: 'x'.repeat(129) }, 'malformed'],
    ['with a key that is none', { idempotencyKey: 'a b' }, 'malformed'],
    ['with a key that is too long', { idempotencyKey: 'k'.repeat(256) }, 'malformed'],
  ])('%s', (_name, changed, expected) => {
    expect(said(decideCall({ ...asked, ...changed }, none, now))).toBe(expected);
  });

  test.each<[string, Partial<EarlierCall>, string]>([
    ['is under way', {}, 'in_flight'],
    ['was under way too long for anybody to know', { decidedAtMs: now - callLeaseMs }, 'replay'],
    ['ended well', { outcome: 'succeeded' }, 'replay'],
    ['ended badly', { outcome: 'upstream_timeout' }, 'replay'],
    ['never left', { outcome: 'not_sent' }, 'call'],
    ['was not let in', { outcome: 'upstream_refused' }, 'call'],
    ['was told to wait', { outcome: 'upstream_limited' }, 'call'],
    ['was another', { argumentDigest: 'other' }, 'idempotency_conflict'],
    ['was another and ended', { toolName: 'other', outcome: 'succeeded' }, 'idempotency_conflict'],
  ])('whose earlier one under the same key %s', (_name, changed, expected) => {
    expect(said(decideCall(asked, { ...none, earlier: { ...earlier, ...changed } }, now))).toBe(expected);
  });

  test.each<[string, Confirmation | null, Partial<CallAsked>, string]>([
    ['never confirmed', null, {}, 'confirm'],
    ['with the name of a confirmation that is not there', null, { confirmId: 'x' }, 'confirmation_expired'],
    ['without a key', null, { idempotencyKey: '' }, 'idempotency_key_required'],
    ['of a definition that nobody has seen', null, { definitionHash: '' }, 'contract'],
    [
      'approved, of a definition that nobody has seen',
      { ...confirmation, definitionHash: '' },
      { definitionHash: '' },
      'contract',
    ],
    ['approved', confirmation, {}, 'call'],
    ['approved, and named', confirmation, { confirmId: 'id' }, 'call'],
    ['approved under another name', confirmation, { confirmId: 'x' }, 'confirmation_unknown'],
    ['not answered yet', { ...confirmation, state: 'pending' }, {}, 'confirm'],
    ['denied', { ...confirmation, state: 'denied' }, {}, 'confirmation_denied'],
    ['approved in the very millisecond it ends', { ...confirmation, expiresAtMs: now }, {}, 'confirm'],
    ['approved for another connection', { ...confirmation, connectionId: 'other' }, {}, 'confirmation_mismatch'],
    ['approved for another definition', { ...confirmation, definitionHash: 'other' }, {}, 'confirmation_mismatch'],
  ])('of HIGH risk, %s', (_name, found, changed, expected) => {
    expect(said(decideCall({ ...asked, ...changed }, { ...none, risk: 'HIGH', confirmation: found }, now))).toBe(
      expected,
    );
  });

  test('has the risk its binding says, also where a tool is named like something every object has', () => {
    const careful = {
      ...published,
      binding: { ...published.binding, risk: { otherwise: 'LOW' as const, tools: { erase: 'HIGH' as const } } },
    };
    expect(['erase', 'echo', 'constructor', '__proto__', 'toString'].map((tool) => riskOf(careful, tool))).toEqual([
      'HIGH',
      'LOW',
      'LOW',
      'LOW',
      'LOW',
    ]);
  });
});
