/**
 * Whether a route may be shown: what its owner serves is looked at once, when it is opened. Agents never see this list; theirs is
 * read anew each time.
 *
 * A remote connector is asked `server/discover` every time; its list is remembered for the same authorization within this process
 * (account, connector, release, local connection, version and revision), so that starting again does not probe again. The
 * generation stands for release and connection version and rises with every rejection. Never remembered: what is empty, illegal
 * or refused. Seed 1 "authorization and runtime reconcile".
 */
import { createHash } from 'node:crypto';
import type { Stamp } from '../../events/index.ts';
import { fail, limits, type Failure, type Outcome, type Tool } from '../../protocol/index.ts';
import type { Owner } from './owner.ts';
import type { RemoteClient, RemoteClientRequest } from './remoteClientFactory.ts';
import { readAll } from './wholeList.ts';

/** What a handle is known by: how many tools, and which. */
export interface Tools {
  readonly count: number;
  readonly digest: string;
}

export class ActivationMemory {
  readonly #held = new Map<string, { readonly identity: string; readonly tools: Tools }>();

  recall(request: RemoteClientRequest, stamp: Stamp | null): Tools | undefined {
    const held = this.#held.get(placeOf(request));
    return held?.identity === identityOf(request, stamp) ? held.tools : undefined;
  }

  /** Only the newest of each account and connector: an older identity can't come back. */
  keep(request: RemoteClientRequest, stamp: Stamp | null, tools: Tools): void {
    this.#held.set(placeOf(request), { identity: identityOf(request, stamp), tools });
  }

  forget(request: Pick<RemoteClientRequest, 'account' | 'connector'>): void {
    this.#held.delete(placeOf(request));
  }
}

function placeOf({ account, connector }: Pick<RemoteClientRequest, 'account' | 'connector'>): string {
  return JSON.stringify([account, connector]);
}

function identityOf(request: RemoteClientRequest, stamp: Stamp | null): string {
  const { account, connector, release, connection, generation } = request;
  return JSON.stringify([account, connector, release.digest, connection, generation, stamp?.line, stamp?.revision]);
}

/** Probes a remote connector. */
export async function activateRemote(
  client: RemoteClient,
  request: RemoteClientRequest,
  context: { readonly signal: AbortSignal; readonly stamp: Stamp | null; readonly memory: ActivationMemory },
): Promise<Outcome<Tools>> {
  const { signal, stamp, memory } = context;
  const discovery = await client.discover({ signal });
  if (!discovery.ok) return refuse(memory, request, discovery.failure);
  const known = memory.recall(request, stamp);
  if (known !== undefined) return { ok: true, value: known };
  const list = await client.listAll({ signal });
  if (!list.ok) return refuse(memory, request, list.failure);
  const tools = toolsOf(list.value.tools);
  if (tools.count === 0) return fail('protocol', 'the connector lists no usable tool');
  memory.keep(request, stamp, tools);
  return { ok: true, value: tools };
}

function refuse(memory: ActivationMemory, request: RemoteClientRequest, why: Failure): Outcome<Tools> {
  memory.forget(request);
  return { ok: false, failure: why };
}

/** Lists a process once. One that announces its changes may begin with nothing. */
export async function activateLocal(owner: Owner, signal: AbortSignal): Promise<Outcome<Tools>> {
  const list = await readAll(owner, { signal, deadlines: { totalMs: limits.gapMs } });
  if (!list.ok) return list;
  const tools = toolsOf(list.value);
  if (tools.count === 0 && owner.changes() === undefined) return fail('protocol', 'the connector lists no usable tool');
  return { ok: true, value: tools };
}

function toolsOf(tools: readonly Tool[]): Tools {
  const digest = createHash('sha256');
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const tool of sorted) digest.update(tool.text).update('\0');
  return { count: tools.length, digest: digest.digest('hex') };
}
