/**
 * Door 1 as a value: what every request needs, opened once. Nothing in it belongs to a request, and no two requests share anything
 * but counts and what was served under a key of the authority's.
 */
import type { AuthorityPort } from '../protocol/authority.ts';
import type { Implementation } from '../protocol/mcp.ts';
import type { Sender } from '../protocol/outgoing.ts';
import type { Admission } from './admit/admission.ts';
import type { AuditQueue } from './audit.ts';
import type { GatewayLimits } from './bounds.ts';
import type { Contracts } from './contracts.ts';
import type { Agents } from './egress/agents.ts';
import type { Log } from './log.ts';

export interface Door {
  readonly authority: AuthorityPort;
  readonly admission: Admission;
  readonly contracts: Contracts;
  readonly audit: AuditQueue;
  readonly agents: Agents;
  readonly bounds: GatewayLimits;
  readonly serverInfo: Implementation;
  /** The gateway as it speaks to upstreams of the modern era. */
  readonly sender: Sender;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
}
