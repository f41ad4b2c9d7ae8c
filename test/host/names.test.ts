import fc from 'fast-check';
import { expect, test } from 'vitest';
import { naming } from '../../src/host/server/names.ts';

const safe = /^[A-Za-z0-9_-]{1,48}$/;
const connector = fc.oneof(
  fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,30}[a-z0-9])?$/),
  fc.constantFrom('a', 'a_b', 'a.b', 'a__b', 'a-b', 'github', 'github_enterprise'),
);
const tool = fc.oneof(
  fc.string({ maxLength: 140, unit: 'binary' }),
  fc.stringMatching(/^[A-Za-z0-9_.-]{1,128}$/),
  fc.constantFrom('b', '_b', 'b__c', 'document.search', '__proto__', 'constructor', 'x-HABCDEFGH', '文档.搜索'),
);

test('a plain name stays readable', () => {
  expect(naming.of('files', 'read_file')).toBe('files__read_file');
});

test('every name is safe for agents and leaves room for their prefix', () => {
  fc.assert(fc.property(connector, tool, (c, t) => safe.test(naming.of(c, t))));
});

test('two different pairs never share a name', () => {
  const pair = fc.tuple(connector, tool);
  fc.assert(
    fc.property(pair, pair, (a, b) => {
      fc.pre(a[0] !== b[0] || a[1] !== b[1]);
      return naming.of(...a) !== naming.of(...b);
    }),
    { numRuns: 3000 },
  );
});

test('a name tells its connector and no other', () => {
  fc.assert(
    fc.property(connector, connector, tool, (c, other, t) => {
      fc.pre(c !== other);
      return naming.owns(c, naming.of(c, t)) && !naming.owns(other, naming.of(c, t));
    }),
    { numRuns: 3000 },
  );
});

test('a tool that is named like a shortened one does not take its place', () => {
  const shortened = naming.of('a', 'document.search');
  expect(naming.of('a', shortened.slice('a__'.length))).not.toBe(shortened);
});
