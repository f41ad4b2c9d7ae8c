/**
 * Whether a call may go on, in the order in which it can be told: this process, this session, then, when the authority has said who
 * asks, this account and this connector. One noisy account delays and hides no other. DESIGN 7, law L19, threat C35.
 */
import type { Principal, Upstream } from '../../protocol/authority.ts';
import { notAdmitted, notTried } from '../upstream/failure.ts';
import { RETRY_MS } from '../bounds.ts';
import type { GatewayLimits } from '../bounds.ts';
import { openBreaker } from './breaker.ts';
import { openBulkhead } from './bulkhead.ts';
import { openRate } from './rate.ts';

/** A place taken. `leave` gives it back; calling it again does nothing. */
export interface Place {
  leave(): void;
}

export interface Admission {
  /** Before anything is known. Throws `UpstreamFailure` (-33005), as the others do. */
  enter(): Place;
  /** When the session is known, by its hash. */
  pace(session: string): void;
  /** When the account is known. Throws `UpstreamFailure`: -33005, or -33003 while the upstream is known to be down. */
  forward(connector: string, principal: Principal, upstream: Upstream): Place & Verdict;
  /** Requests under way. */
  readonly underWay: number;
}

/** What the call tells about the upstream's health: it answered, or it was away. Said once. */
export interface Verdict {
  healthy(): void;
  away(): void;
}

export function openAdmission(bounds: GatewayLimits, now: () => number): Admission {
  const bulkhead = openBulkhead();
  const rate = openRate({ perSecond: bounds.ratePerSecond, burst: bounds.rateBurst }, now);
  const breaker = openBreaker(now);
  const place = (key: string, limit: number, what: string): (() => void) =>
    bulkhead.enter(key, limit) ?? refuse(`too many requests of this ${what} at once`, RETRY_MS);

  return {
    get underWay() {
      return bulkhead.taken('all');
    },
    enter: () => ({ leave: place('all', bounds.requests, 'gateway') }),
    pace(session) {
      const wait = rate.take(session);
      if (wait > 0) refuse('too many requests of this session', wait);
    },
    forward(connector, principal, upstream) {
      const account = `${principal.tenantId} ${principal.principalId}`;
      // By account too: calls that one account can make fail must not close the connector for the others.
      const key = `${account} ${connector} ${upstream.endpoint}`;
      const wait = breaker.ask(key);
      if (wait > 0) throw notTried(wait);
      const limit = Math.min(upstream.limits.concurrency ?? bounds.perConnector, bounds.perConnector);
      const leaveAccount = place(`account ${account}`, bounds.perAccount, 'account');
      try {
        const leaveConnector = place(`connector ${connector}`, limit, 'connector');
        return {
          leave: () => (leaveAccount(), leaveConnector()),
          healthy: () => breaker.succeeded(key),
          away: () => breaker.failed(key),
        };
      } catch (error) {
        leaveAccount();
        throw error;
      }
    },
  };
}

function refuse(why: string, retryAfterMs: number): never {
  throw notAdmitted(why, retryAfterMs);
}
