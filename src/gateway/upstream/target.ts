/**
 * Where one call goes and with what: the authority's answer, checked and bounded. Held for that call and then forgotten.
 */
import type { Injection, Upstream } from '../../protocol/authority.ts';
import { limits } from '../../protocol/limits.ts';
import { EndpointRefused, endpointUrl } from '../egress/address.ts';
import type { Reach } from '../egress/address.ts';
import { outsideProtocol } from './failure.ts';

/** How long and how large, each the smaller of the binding's and the gateway's own. */
export interface Bounds {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly requestBytes: number;
  readonly resultBytes: number;
  readonly streamBytes: number;
}

export interface Target {
  /** Where it is, with the credential where the binding puts it in the query. */
  readonly href: string;
  readonly origin: string;
  /** With its query. */
  readonly path: string;
  readonly reach: Reach;
  /** The credential, where the binding puts it in a header. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a 401 or 403 speaks of a credential that we sent. */
  readonly injected: boolean;
  readonly bounds: Bounds;
  readonly totalMs: number;
}

/** The gateway's own bounds; a binding can only narrow them. */
export const ownBounds = {
  connectMs: limits.connectMs,
  firstByteMs: limits.firstByteMs,
  idleMs: limits.gapMs,
  totalMs: limits.totalMs,
  requestBytes: limits.requestBytes,
  resultBytes: limits.resultBytes,
  streamBytes: limits.streamBytes,
} as const;
export type OwnBounds = { readonly [K in keyof typeof ownBounds]: number };

/** Reads the authority's answer. Throws `UpstreamFailure` (-33006) when its endpoint is not allowed or a header can't be sent. */
export function targetOf(upstream: Upstream, own: OwnBounds): Target {
  const reach: Reach = upstream.privateNetwork ? 'private' : 'public';
  const url = checkedUrl(upstream, reach);
  const { injection, credential } = upstream;
  if (injection.kind === 'query') url.searchParams.set(injection.name, credential);
  return {
    href: url.href,
    origin: url.origin,
    path: url.pathname + url.search,
    reach,
    headers: injectedHeaders(injection, credential),
    injected: injection.kind !== 'none',
    bounds: { ...narrowed(upstream, own), streamBytes: own.streamBytes },
    totalMs: Math.min(upstream.limits.totalMs ?? own.totalMs, own.totalMs),
  };
}

function checkedUrl(upstream: Upstream, reach: Reach): URL {
  try {
    return endpointUrl(upstream.endpoint, upstream.allowedHosts, reach);
  } catch (error) {
    if (error instanceof EndpointRefused) throw outsideProtocol(error.message, 'endpoint');
    throw error;
  }
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD = /^[\x20-\x7e]*$/;
/** A binding that could set one of these would change what is sent, not how it is authorized. */
const OURS = /^(?:host|content-.*|transfer-encoding|connection|upgrade|te|trailer|expect|accept.*|mcp-.*|cookie2)$/;

function injectedHeaders(injection: Injection, credential: string): Record<string, string> {
  if (injection.kind !== 'header') return {};
  const name = injection.name.toLowerCase();
  const value = injection.prefix + credential;
  if (!TOKEN.test(name) || OURS.test(name) || !FIELD.test(value))
    throw outsideProtocol('its credential can not be sent as its binding says', 'injection');
  return { [name]: value };
}

function narrowed(upstream: Upstream, own: OwnBounds): Omit<Bounds, 'streamBytes'> {
  const { limits: said } = upstream;
  const least = (name: 'connectMs' | 'firstByteMs' | 'idleMs' | 'requestBytes' | 'resultBytes'): number =>
    Math.min(said[name] ?? own[name], own[name]);
  return {
    connectMs: least('connectMs'),
    firstByteMs: least('firstByteMs'),
    idleMs: least('idleMs'),
    requestBytes: least('requestBytes'),
    resultBytes: least('resultBytes'),
  };
}
