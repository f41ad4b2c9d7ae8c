/**
 * Connections to upstreams: pools that resolve a name once per connection and connect to that very address, if it may be reached.
 */
import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';

import { EndpointRefused, mayConnect } from './address.ts';
import type { Reach } from './address.ts';

/** How names are resolved: every address of a name, as `dns.lookup` with `all` answers it. A port, so that a test can be a hostile resolver. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Pools by reach and connect timeout; each keeps connections per origin. */
export interface Agents {
  of(reach: Reach, connectMs: number): Dispatcher;
  close(): Promise<void>;
}

/** Shorter than what servers commonly keep: the side that closes first never loses a request to a closed connection. Fault D44. */
const KEEP_ALIVE_MS = 3_000;
/** Connect timeouts are rounded up to this, so that bindings can't make pools without end. */
const CONNECT_STEP_MS = 250;

export function openAgents(resolve: Resolve = lookup as Resolve): Agents {
  const agents = new Map<string, Agent>();
  return {
    of(reach, connectMs) {
      const timeout = Math.max(1, Math.ceil(connectMs / CONNECT_STEP_MS)) * CONNECT_STEP_MS;
      const key = `${reach} ${timeout}`;
      const agent = agents.get(key) ?? open(reach, timeout, resolve);
      agents.set(key, agent);
      return agent;
    },
    close: async () => {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
      agents.clear();
    },
  };
}

function open(reach: Reach, timeout: number, resolve: Resolve): Agent {
  return new Agent({
    // As many as there are calls: admission bounds those, by account too. In a pool that is full one account's calls wait for another's.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout, lookup: checked(reach, resolve) },
  });
}

type Answer = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** One address that may not be reached refuses the name: a resolver that mixes them in is not to be trusted with the rest. */
function checked(reach: Reach, resolve: Resolve) {
  return (hostname: string, options: LookupOptions, answer: Answer): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return answer(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => mayConnect(address, reach)))
        return answer(new EndpointRefused("the connector's host resolves to an address that may not be reached"), []);
      if (options.all === true) answer(null, addresses);
      else answer(null, first.address, first.family);
    });
  };
}
