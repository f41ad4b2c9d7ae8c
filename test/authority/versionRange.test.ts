import { expect, test } from 'vitest';
import { versionWithin } from '../../src/authority/versionRange.ts';

const range = { from: '1.2.0', before: '2.0.0' };

test.each(['1.2.0', '1.2.1-rc.1', '1.10.0', '1.99.99', '1.2.0+build.5'])('%s lies in 1.2.0 to 2.0.0', (version) => {
  expect(versionWithin(version, range)).toBe(true);
});

test.each([
  '1.1.9',
  '1.2.0-rc.1',
  '2.0.0',
  '2.0.0-rc.1',
  '10.0.0',
  '',
  'v1.3.0',
  '1.3',
  '1.3.0.1',
  '1.3.0 ',
  '1e9.0.0',
  'latest',
])('%j does not', (version) => {
  expect(versionWithin(version, range)).toBe(false);
});

test('a range without end has none, and one that can not be read holds nothing', () => {
  expect(versionWithin('99.0.0', { from: '0.0.0', before: null })).toBe(true);
  expect(versionWithin('1.0.0', { from: 'x', before: null })).toBe(false);
  expect(versionWithin('1.0.0', { from: '0.0.0', before: 'x' })).toBe(false);
});

test('pre-releases are ordered as SemVer says', () => {
  const ordered = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
  ];
  for (const [index, from] of ordered.entries()) {
    const within = ordered.map((version) => versionWithin(version, { from, before: null }));
    expect(within).toEqual(ordered.map((_version, other) => other >= index));
  }
});
