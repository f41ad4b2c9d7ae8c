/**
 * The gateway as a whole: an authority to ask in, a URL out.
 */
import { randomUUID } from 'node:crypto';

import type { AuthorityPort } from '../protocol/authority.ts';
import type { Implementation } from '../protocol/mcp.ts';
import { senderOf } from '../protocol/outgoing.ts';
import { openAdmission } from './admit/admission.ts';
import { openAuditQueue } from './audit.ts';
import type { AuditQueue } from './audit.ts';
import { gatewayLimits } from './bounds.ts';
import type { GatewayLimits } from './bounds.ts';
import { openContracts } from './contracts.ts';
import { openAgents } from './egress/agents.ts';
import type { Resolve } from './egress/agents.ts';
import { handle } from './handle.ts';
import { openListener } from './listener.ts';
import type { ListenOptions } from './listener.ts';
import { silent } from './log.ts';
import type { Log } from './log.ts';

export interface GatewayOptions extends ListenOptions {
  readonly authority: AuthorityPort;
  /** What the gateway calls itself to callers and upstreams. */
  readonly serverInfo?: Implementation;
  readonly log?: Log;
  /** Overrides of the gateway's own limits. */
  readonly limits?: Partial<GatewayLimits>;
  readonly now?: () => number;
  readonly newId?: () => string;
  /** How upstream names are resolved; default the system's. */
  readonly resolve?: Resolve;
}

export interface Gateway {
  /** Base of every path, without a trailing slash. */
  readonly url: string;
  /** What an operator looks at. */
  readonly audit: Pick<AuditQueue, 'dropped' | 'waiting'>;
  readonly underWay: number;
  /** Takes nothing new, waits a little for what is under way, delivers outcomes, closes. */
  close(): Promise<void>;
}

const DRAIN_MS = 5_000;
const AUDIT_MS = 2_000;

/** Opens door 1. Throws what `listen` throws: the port is taken, the address is not ours. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { authority, log = silent, now = Date.now, newId = randomUUID } = options;
  const bounds = { ...gatewayLimits, ...options.limits };
  const audit = openAuditQueue({ authority, log });
  const admission = openAdmission(bounds, now);
  const agents = openAgents(options.resolve);
  const serverInfo = options.serverInfo ?? { name: 'dacapo-gateway', version: '1' };
  const door = {
    authority,
    admission,
    contracts: openContracts(now),
    audit,
    agents,
    bounds,
    serverInfo,
    sender: senderOf(serverInfo, null),
    log,
    now,
    newId,
  };
  const listener = await openListener(options, bounds, (request, response) => handle(door, request, response));
  return {
    url: listener.url,
    audit,
    get underWay() {
      return admission.underWay;
    },
    close: async () => {
      await listener.close(DRAIN_MS);
      await audit.close(AUDIT_MS);
      await agents.close();
    },
  };
}
