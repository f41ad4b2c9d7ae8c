/**
 * Which addresses an upstream may have.
 *
 * The check is made on the address that is about to be connected to, not on the name: a name that was public when it was checked
 * may be 127.0.0.1 when it is used. Threats C8 and C9 of the threat model.
 */
import { BlockList, isIP } from 'node:net';

/** The endpoint of a binding was refused before any packet. The message names no endpoint: it may reach an agent's log. */
export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused';
}

/** `public`: what the internet routes. `private`: also loopback and private ranges, because the binding's operator said so. */
export type Reach = 'public' | 'private';

type Subnet = readonly [address: string, prefix: number];

const PRIVATE: readonly Subnet[] = [
  ...([
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
  ] as const),
  ...([
    ['::1', 128],
    ['fc00::', 7],
  ] as const),
];

/** Never an upstream, whoever says so: this host by its unspecified address, link-local (cloud metadata), multicast, reserved. */
const NEVER: readonly Subnet[] = [
  ...([
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['198.18.0.0', 15],
  ] as const),
  ...([
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
  ...([
    ['100::', 64],
    ['2001::', 32],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['fe80::', 10],
    ['ff00::', 8],
  ] as const),
];

const privateList = blockList(PRIVATE);
const neverList = blockList(NEVER);
const globalV6 = blockList([['2000::', 3]]);

/** Whether a numeric address may be connected to. Anything that is not one is refused. */
export function mayConnect(address: string, reach: Reach): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  if (privateList.check(address, kind)) return reach === 'private' && !isMapped(address);
  if (neverList.check(address, kind)) return false;
  return family === 4 || globalV6.check(address, kind);
}

/**
 * The URL of an endpoint that its binding allows.
 *
 * *Errors*: {@link EndpointRefused} unless the text is canonical (so that what was reviewed is what is connected to), https (http
 * only with private reach), without user or fragment, its host exactly one of `allowedHosts`, and a literal address connectable.
 */
export function endpointUrl(endpoint: string, allowedHosts: readonly string[], reach: Reach): URL {
  const url = urlOf(endpoint);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && reach === 'private')) refuse('must be https');
  if (!endpoint.startsWith(`${url.origin}/`) && endpoint !== url.origin) refuse('is not written canonically');
  if (url.hash !== '') refuse('has a fragment');
  if (!allowedHosts.includes(url.host)) refuse('is at a host that its binding does not allow');
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !mayConnect(literal, reach)) refuse('is at an address that may not be reached');
  return url;
}

function urlOf(endpoint: string): URL {
  try {
    return new URL(endpoint);
  } catch {
    return refuse('is not a URL');
  }
}

function refuse(why: string): never {
  throw new EndpointRefused(`the connector's endpoint ${why}`);
}

/** An IPv4 address in IPv6 dress: `check` looks through it, a reader of allow-lists does not. */
function isMapped(address: string): boolean {
  return address.toLowerCase().startsWith('::ffff:');
}

function blockList(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return list;
}
