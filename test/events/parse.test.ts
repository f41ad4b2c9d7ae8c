import { expect, it } from 'vitest';
import { recordedEvent } from '../../src/events/parse.ts';
import { BadEvent, isUnknown, parseFact, parseRecorded, SCHEMA, type UpcastStep } from '../../src/events/index.ts';
import { upcast, upcastSteps } from '../../src/events/upcast.ts';
import { activated, event, snapshot } from './samples.ts';

const recorded = { ...event(activated('ann')), position: 1, schema: 1, rules: '1' };
const entry = { state: 'connected', connectionVersion: 3, connectionIdHash: null, releaseVersion: null };
const read = (entries: unknown, revision: unknown = 1): unknown => ({
  type: 'snapshot.received',
  data: { ...snapshot('ann', '1').data, revision, entries },
});

it.each([
  ['nothing', undefined, ''],
  ['a text', 'account.activated', ''],
  ['no data', { type: 'account.activated' }, 'data'],
  ['a type that is not in the catalogue', { type: 'account.renamed', data: {} }, 'type'],
  ['a type that every object has', { type: 'constructor', data: {} }, 'type'],
  ['a missing field', { type: 'account.activated', data: { account: 'ann' } }, 'data.epoch'],
  ['a field too many', { type: 'account.activated', data: { account: 'ann', epoch: 1, cookie: 's' } }, 'data'],
  ['a member too many', { ...activated('ann'), position: 1 }, ''],
  ['a wrong kind', { type: 'account.activated', data: { account: 'ann', epoch: '1' } }, 'data.epoch'],
  ['a state that nobody knows', read({ docs: { ...entry, state: 'maybe' } }), 'data.entries.docs'],
  ['a revision below zero', read({}, -1), 'data.revision'],
  ['a revision that a float rounded', read({}, 2 ** 53), 'data.revision'],
  ['a revision of 65 bits', read({}, '18446744073709551616'), 'data.revision'],
  [
    'a text beyond its length',
    { type: 'server.reset', data: { account: 'ann', acceptedBy: 'x'.repeat(192) } },
    'data.acceptedBy',
  ],
])('%s is refused, with the field and what to do', (_what, value, path) => {
  expect(() => parseFact(value)).toThrow(
    expect.objectContaining({ constructor: BadEvent, path, next: 'correct the sender' }),
  );
});

it('a value never stands in the error', () => {
  const secret = {
    type: 'account.activated',
    data: { account: ['sk-canary'], epoch: 'sk-canary', reason: 'sk-canary' },
  };
  expect(() => parseFact(secret)).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('canary') as string }),
  );
});

it('uint64 comes as number or text and becomes canonical text', () => {
  const texts = [7, '7', '007', '18446744073709551615'].map((revision) => parseFact(read({}, revision)).data);
  expect(texts.map((data) => (data as { revision: string }).revision)).toEqual(['7', '7', '7', '18446744073709551615']);
});

it('a connector may be called constructor, and one called __proto__ changes nothing', () => {
  const entries = JSON.parse(`{"constructor":"unreadable","valueof":"unreadable","__proto__":"unreadable"}`) as object;
  const data = parseFact(read(entries)).data as { entries: object };
  expect(Object.keys(data.entries)).toEqual(['constructor', 'valueof']);
  expect(Object.getPrototypeOf(data.entries)).toBe(Object.prototype);
});

it('an event that was recorded is parsed as it was', () => {
  expect(parseRecorded(structuredClone(recorded))).toEqual(recorded);
});

it.each([
  ['position', 0],
  ['position', 1.5],
  ['id', 'two words'],
  ['at', -1],
  ['cause', 0],
  ['schema', 0],
  ['rules', ''],
  ['data', 7],
])('a recorded event whose %s is %s is refused', (field, value) => {
  expect(() => parseRecorded({ ...recorded, [field]: value })).toThrow(expect.objectContaining({ path: field }));
});

it('an unknown type, a newer schema and a missing payload are kept without being understood', () => {
  const data = { connector: 'docs', colour: 'blue' };
  const newer = [
    { type: 'route.painted', data },
    { schema: SCHEMA + 1, data },
  ].map((change) => parseRecorded({ ...recorded, ...change }));
  const redacted = parseRecorded({ ...recorded, data: null });
  expect(newer.map((kept) => isUnknown(kept) && [kept.unknown, kept.data])).toEqual([
    ['newer', data],
    ['newer', data],
  ]);
  expect(redacted).toMatchObject({ unknown: 'redacted', data: {} });
  expect(isUnknown(parseRecorded(recorded))).toBe(false);
});

it('there is one upcast step for every raise of SCHEMA', () => {
  expect(upcastSteps).toHaveLength(SCHEMA - 1);
});

/** Two raises, as they could have been: an epoch that was text, then an account that was called user. */
const steps: readonly UpcastStep[] = [
  new Map([['account.activated', (data) => ({ ...data, epoch: Number(data['epoch']) })]]),
  new Map([['account.activated', ({ user, ...rest }) => ({ ...rest, account: user })]]),
];

it('golden rows of older schemas are lifted step by step, and other types pass', () => {
  expect(upcast('account.activated', 1, { user: 'ann', epoch: '4' }, steps)).toEqual({ account: 'ann', epoch: 4 });
  expect(upcast('account.activated', 2, { user: 'ann', epoch: 4 }, steps)).toEqual({ account: 'ann', epoch: 4 });
  expect(upcast('account.cleared', 1, { epoch: 4 }, steps)).toEqual({ epoch: 4 });
});

it('what was lifted bears today’s schema and is checked as today’s; what is newer is still unknown', () => {
  const old = { ...recorded, schema: 1, data: { user: 'ann', epoch: '4' } };
  expect(parseRecorded(old, steps)).toEqual({ ...recorded, schema: 3, data: { account: 'ann', epoch: 4 } });
  expect(() => parseRecorded({ ...old, data: { user: 'ann', epoch: 'four' } }, steps)).toThrow(BadEvent);
  expect(isUnknown(recordedEvent({ ...recorded, schema: 4 }, steps))).toBe(true);
});
