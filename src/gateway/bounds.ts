/** The gateway's own limits, as an operator may set them. Every one has a reason to exist under load that nobody here controls. */
import { limits } from '../protocol/limits.ts';
import { ownBounds } from './upstream/target.ts';
import type { OwnBounds } from './upstream/target.ts';

export interface GatewayLimits {
  /** Requests under way in the whole process, authorized or not. */
  readonly requests: number;
  /** Calls under way for one account. */
  readonly perAccount: number;
  /** Calls under way to one connector, all accounts together; a binding can lower it. */
  readonly perConnector: number;
  /** Requests a second of one session, and how many may come at once. */
  readonly ratePerSecond: number;
  readonly rateBurst: number;
  /** Open sockets. */
  readonly connections: number;
  /** How long a question to the authority may take. */
  readonly authorityMs: number;
  /** How long a whole HTTP request, and its headers, may take to arrive. */
  readonly requestMs: number;
  readonly headersMs: number;
  /** A caller is kept waiting this long before it is answered with an event stream: well below a client's first-byte limit. */
  readonly patienceMs: number;
  readonly upstream: OwnBounds;
}

export const gatewayLimits: GatewayLimits = {
  requests: 1_024,
  perAccount: 64,
  perConnector: 256,
  ratePerSecond: 200,
  rateBurst: 400,
  connections: 2_048,
  authorityMs: 3_000,
  requestMs: limits.firstByteMs,
  headersMs: 10_000,
  patienceMs: 5_000,
  upstream: ownBounds,
};

/** What a caller is told to wait when no better figure is known. */
export const RETRY_MS = 1_000;
