import { expect, test } from 'vitest';
import { bindingSchema, contractHash, demoSeed } from '../../src/authority/index.ts';

const [everything] = demoSeed({ everythingEndpoint: 'https://mcp.example.com/mcp' }).bindings;

test.each([
  ['a host that is not allowed', { endpoint: 'https://evil.example/mcp' }],
  ['an allowed host as user', { endpoint: 'https://mcp.example.com@evil.example/mcp' }],
  ['an allowed host as prefix', { endpoint: 'https://mcp.example.com.evil.example/mcp' }],
  ['another port of an allowed host', { endpoint: 'https://mcp.example.com:8443/mcp' }],
  ['plain http on the open network', { endpoint: 'http://mcp.example.com/mcp', privateNetwork: false }],
  ['no URL', { endpoint: 'mcp.example.com' }],
  ['a header that is none', { injection: { kind: 'header', name: 'X:Y', prefix: '' } }],
  ['a prefix with a line break', { injection: { kind: 'header', name: 'X', prefix: 'a\r\nb' } }],
  ['a member nobody knows', { retries: 3 }],
  ['no allowed host', { allowedHosts: [] }],
])('a binding with %s is refused', (_name, changed) => {
  expect(bindingSchema.safeParse({ ...everything, ...changed }).success).toBe(false);
});

test('the contract a release relies on does not change when the upstream moves', () => {
  const moved = demoSeed({ everythingEndpoint: 'https://other.example.com/mcp' }).bindings[0];
  if (everything === undefined || moved === undefined) throw new Error('the demo has one binding');
  expect(contractHash(moved)).toBe(contractHash(everything));
  expect(contractHash(everything)).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test.each([
  { authorization: 'oauth2' },
  { connectorVersions: { from: '1.0.0', before: null } },
  { ref: 'everything.second' },
])('it does change with %j', (changed) => {
  if (everything === undefined) throw new Error('the demo has one binding');
  expect(contractHash(bindingSchema.parse({ ...everything, ...changed }))).not.toBe(contractHash(everything));
});
