import { describe, expect, test } from 'vitest';

import { endpointUrl, EndpointRefused, mayConnect } from '../../src/gateway/egress/address.ts';

const allowed = ['api.ok', 'api.ok:8443'];
const reachable = (endpoint: string, reach: 'public' | 'private' = 'public'): boolean => {
  try {
    return endpointUrl(endpoint, [...allowed, '127.0.0.1:8080', '10.0.0.1'], reach).href !== '';
  } catch (error) {
    expect(error).toBeInstanceOf(EndpointRefused);
    return false;
  }
};

describe('the endpoint of a binding', () => {
  test.each(['https://api.ok/mcp', 'https://api.ok', 'https://api.ok:8443/mcp?a=1'])('may be %s', (endpoint) => {
    expect(reachable(endpoint)).toBe(true);
  });

  test.each([
    ...['https://api.ok@evil/', 'https://api.ok.evil/', 'https://api.ok:444/', 'https://API.OK/', 'https://api.ok./'],
    ...[
      'https://\u24d0pi.ok/',
      'https://\u0430pi.ok/',
      'https://user:pw@api.ok/',
      'https://api.ok/#x',
      'http://api.ok/',
    ],
    ...[
      'ftp://api.ok/',
      'https://api.ok\\@evil/',
      'https:api.ok/',
      '//api.ok/',
      '',
      'https://evil/?api.ok',
      'https://api.ok:443/',
    ],
  ])('is refused as %j', (endpoint) => {
    expect(reachable(endpoint)).toBe(false);
  });

  test.each([
    ...['http://2130706433:8080/', 'http://0x7f.1:8080/', 'http://0177.0.0.1:8080/', 'http://[::ffff:127.0.0.1]:8080/'],
    ...['https://10.0.0.1/', 'http://127.0.0.1:8080/'],
  ])('at %s is not reached as a public one', (endpoint) => {
    expect(reachable(endpoint)).toBe(false);
  });

  test('may be private, and plain http, where its operator said so', () => {
    expect([reachable('http://127.0.0.1:8080/mcp', 'private'), reachable('https://10.0.0.1/', 'private')]).toEqual([
      true,
      true,
    ]);
  });
});

describe('an address', () => {
  test.each(['1.2.3.4', '93.184.216.34', '2606:2800:220:1::1'])('%s is public', (address) => {
    expect(mayConnect(address, 'public')).toBe(true);
  });

  test.each([...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fc00::1', 'fd12::1']])(
    '%s is reached only where its operator said so',
    (address) => {
      expect([mayConnect(address, 'public'), mayConnect(address, 'private')]).toEqual([false, true]);
    },
  );

  test.each([
    ...['0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255', '198.18.0.1', '::', 'fe80::1', 'ff02::1'],
    ...[
      '::ffff:169.254.169.254',
      '::ffff:127.0.0.1',
      '::ffff:1.2.3.4',
      '64:ff9b::a9fe:a9fe',
      '2002:7f00:1::',
      '2001:0:1::1',
    ],
    ...['::127.0.0.1', '100::1', '2001:db8::1', 'fec0::1', 'localhost', '', '1.2.3', '1.2.3.4.5'],
  ])('%s is never reached', (address) => {
    expect([mayConnect(address, 'public'), mayConnect(address, 'private')]).toEqual([false, false]);
  });
});
