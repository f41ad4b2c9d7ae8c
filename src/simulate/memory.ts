/**
 * What a log has said, remembered from its events alone: who is active, what replies told, which handles were opened, which were
 * refused. The audit holds the core's table against this, so it asks the core for nothing but which generation is wanted.
 */
import { compareUint64, type LoggedEvent, type LoggedEventOf, type Stamp } from '../events/index.ts';
import { generationOf, needsAuthorization, type AccountContext } from '../machines/index.ts';
import { routeKey, type RouteRecord } from '../reconcile/index.ts';

type Reply = LoggedEventOf<'snapshot.received'>;

/** A route that was refused and may not be shown again until a later read has said connected. */
export interface Rejection {
  readonly position: number;
  readonly untilMs: number;
  readonly connectionIdHash: string | null;
  readonly connectionVersion: string | null;
  /** A later read said connected, on the same connection … */
  confirmed: boolean;
  /** … or on another. */
  changed: boolean;
}

interface OfHandle {
  readonly account: string | null;
  readonly connector: string;
  readonly generation: string;
  readonly epoch: number;
}
export const handleKey = ({ account, connector, generation, epoch }: OfHandle): string =>
  `${routeKey(account, connector)} ${generation} ${String(epoch)}`;

export const stampText = ({ line, revision }: Stamp): string => `${String(line)}/${revision}`;

export class Memory {
  #active: { readonly account: string; readonly epoch: number } | null = null;
  #epochs = 0;
  /** Of this login: connector → what replies said of it while it was connected, as revision/version. */
  readonly #told = new Map<string, Set<string>>();
  readonly #handles = new Map<string, { readonly position: number; readonly digest: string }>();
  readonly #closed = new Set<string>();
  readonly #rejections = new Map<string, Rejection>();
  readonly #strikes = new Map<string, { readonly of: string; readonly k: number }>();
  readonly #rejected = new Set<string>();

  get active(): { readonly account: string; readonly epoch: number } | null {
    return this.#active;
  }
  isCurrent({ account, epoch }: { readonly account: string | null; readonly epoch: number }): boolean {
    return this.#active !== null && account === this.#active.account && epoch === this.#active.epoch;
  }
  /** Whether a reply of this login said connected with this version at this revision. */
  wasTold(connector: string, revision: string, version: string | null): boolean {
    return this.#told.get(connector)?.has(`${revision}/${String(version)}`) === true;
  }
  /** Whether a read said closed at this stamp. */
  wasClosed(key: string, stamp: Stamp): boolean {
    return this.#closed.has(`${key} ${stampText(stamp)}`);
  }
  handle(of: OfHandle): { readonly position: number; readonly digest: string } | undefined {
    return this.#handles.get(handleKey(of));
  }
  wasRejected(of: OfHandle): boolean {
    return this.#rejected.has(handleKey(of));
  }
  /** The refusal of a route that nothing has answered yet, taken out of memory. */
  takeRejection(key: string): Rejection | undefined {
    const rejection = this.#rejections.get(key);
    this.#rejections.delete(key);
    return rejection;
  }

  /** Who is active, and which handles there are. */
  hear(event: LoggedEvent): void {
    switch (event.type) {
      case 'engine.started':
        this.#handles.clear();
        return this.#leave(this.#epochs + 1);
      case 'account.activated':
        this.#leave(this.#epochs);
        if (event.data.epoch > this.#epochs) this.#active = { ...event.data };
        this.#told.clear();
        this.#epochs = Math.max(this.#epochs, event.data.epoch);
        return;
      case 'account.cleared':
        return this.#leave(Math.max(this.#epochs, event.data.epoch));
      case 'route.opened':
        return void this.#handles.set(handleKey(event.data), {
          position: event.position,
          digest: event.data.tools.digest,
        });
      case 'route.closed':
      case 'route.exited':
        return void this.#handles.delete(handleKey(event.data));
      default:
    }
  }

  #leave(epochs: number): void {
    this.#active = null;
    this.#epochs = epochs;
  }

  /** A reply of this login. `known` are the connectors that have a record, whose absence from a complete reply says closed. */
  hearReply({ data, at }: Reply, before: AccountContext, after: AccountContext, known: ReadonlySet<string>): void {
    const accepted = after.acceptedAtMs === at;
    const counted = isOfLine(data, before, after);
    for (const connector of new Set([...Object.keys(data.entries), ...(data.complete ? known : [])])) {
      const entry = data.entries[connector];
      const key = routeKey(data.account, connector);
      if (entry === 'unreadable') continue;
      if (entry?.state === 'connected') {
        const told = this.#told.get(connector) ?? new Set();
        this.#told.set(connector, told.add(`${data.revision}/${entry.connectionVersion}`));
        if (accepted) this.#confirm(key, data.startedAt, entry);
      } else if (counted && known.has(connector)) this.#closed.add(`${key} ${String(after.line)}/${data.revision}`);
    }
  }

  #confirm(key: string, startedAt: number, entry: Pick<Rejection, 'connectionIdHash' | 'connectionVersion'>): void {
    const rejection = this.#rejections.get(key);
    if (rejection === undefined || startedAt < rejection.position) return;
    const same =
      entry.connectionIdHash === rejection.connectionIdHash && entry.connectionVersion === rejection.connectionVersion;
    if (same) rejection.confirmed = true;
    else rejection.changed = true;
  }

  /** A refusal that counts: of the login that holds and the generation that is wanted. Answers whether it did. */
  hearRejection(event: LoggedEventOf<'call.rejected' | 'route.openFailed'>, route: RouteRecord | undefined): boolean {
    const { data, position, at } = event;
    if (data.account === null || route === undefined || !this.isCurrent(data)) return false;
    const { context } = route.machine;
    if (generationOf(context) !== data.generation) return false;
    const key = routeKey(data.account, data.connector);
    const connectionIdHash = context.read?.entry.connectionIdHash ?? null;
    const connectionVersion = context.read?.entry.connectionVersion ?? null;
    const untilMs = at + this.#holdOffMs(key, `${String(connectionIdHash)}/${String(connectionVersion)}`);
    const confirmed = context.device !== null && !needsAuthorization(context.device);
    this.#rejected.add(handleKey(data));
    this.#rejections.set(key, { position, untilMs, connectionIdHash, connectionVersion, confirmed, changed: false });
    return true;
  }

  /** 2^k s for the k-th refusal of one connection, five minutes at most. */
  #holdOffMs(key: string, of: string): number {
    const held = this.#strikes.get(key);
    const k = held?.of === of ? held.k + 1 : 1;
    this.#strikes.set(key, { of, k });
    return Math.min(2 ** k * 1000, 300_000);
  }
}

/** Whether a read speaks of the line that is held after it, at or above what is already believed. */
function isOfLine(data: Reply['data'], before: AccountContext, after: AccountContext): boolean {
  if (after.line !== before.line) return true;
  if (data.startedAt < before.resetAt) return false;
  if (data.serverEpoch !== null && before.serverEpoch !== null && data.serverEpoch !== before.serverEpoch) return false;
  return before.floor === null || compareUint64(data.revision, before.floor) >= 0;
}
