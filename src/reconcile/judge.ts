/**
 * What a reply of the server is worth: accepted, torn, a dissent, the one that starts a new line, or refused. The account rows of
 * the stamp table, DESIGN 5.2; asked once a reply, before anything is changed.
 */
import { compareUint64, sameEntry, type Entry, type Payload, type Stamp } from '../events/index.ts';
import { countDissent, type AccountContext } from '../machines/index.ts';
import { fingerprint } from './fingerprint.ts';
import type { RouteRecord } from './state.ts';

type Snapshot = Payload<'snapshot.received'>;

export type Verdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'adopted' }
  | { readonly kind: 'dissented'; readonly torn: boolean; readonly content: string }
  | { readonly kind: 'refused'; readonly because: 'read-before-reset' | 'server-epoch-regressed' };

/** `routes` are the routes of the account, whose belief an equal revision is held against. */
export function judge(
  context: AccountContext,
  snapshot: Snapshot,
  atMs: number,
  routes: ReadonlyMap<string, RouteRecord>,
): Verdict {
  if (snapshot.startedAt < context.resetAt) return { kind: 'refused', because: 'read-before-reset' };
  if (snapshot.serverEpoch !== null && context.serverEpoch !== null) {
    const order = compareUint64(snapshot.serverEpoch, context.serverEpoch);
    if (order > 0) return { kind: 'adopted' };
    if (order < 0) return { kind: 'refused', because: 'server-epoch-regressed' };
  }
  const order = context.floor === null ? 1 : compareUint64(snapshot.revision, context.floor);
  if (order > 0) return { kind: 'accepted' };
  const torn = order === 0 && (context.torn || !agrees(context, snapshot, routes));
  return order === 0 && !torn ? { kind: 'accepted' } : dissentOrAdopt(context, snapshot, atMs, torn);
}

/** The third dissent in a row that tells one story is no longer a mistake of ours: the server has become another. */
function dissentOrAdopt(context: AccountContext, snapshot: Snapshot, atMs: number, torn: boolean): Verdict {
  const content = contentOf(snapshot);
  const { count } = countDissent(context, atMs, snapshot.revision, content);
  return count >= 3 ? { kind: 'adopted' } : { kind: 'dissented', torn, content };
}

/** Whether a reply at the floor says what was said there before. What was not read there is no contradiction. */
const agrees = (context: AccountContext, snapshot: Snapshot, routes: ReadonlyMap<string, RouteRecord>): boolean =>
  repeatsReads(context, snapshot, routes) && !(context.whole && namesUnnamed(context, snapshot, routes));

/** Whether every readable entry equals what was read at this very revision. */
function repeatsReads(context: AccountContext, snapshot: Snapshot, routes: ReadonlyMap<string, RouteRecord>): boolean {
  for (const [connector, { machine }] of routes) {
    const read = machine.context.read;
    if (read === null || !isAtFloor(context, read.stamp)) continue;
    // By own key only: a connector may be called "constructor".
    const said = Object.hasOwn(snapshot.entries, connector) ? snapshot.entries[connector] : undefined;
    if (said === 'unreadable') continue;
    if (said === undefined ? snapshot.complete && read.entry.state !== 'disconnected' : !sameEntry(said, read.entry))
      return false;
  }
  return true;
}

/** A complete read told every connector that it did not name to be closed, also those that nobody had heard of. */
function namesUnnamed(
  context: AccountContext,
  { entries }: Snapshot,
  routes: ReadonlyMap<string, RouteRecord>,
): boolean {
  return Object.entries(entries).some(([connector, said]) => {
    if (said === 'unreadable' || said.state === 'disconnected') return false;
    const held = routes.get(connector)?.machine.context;
    if (held?.unreadable === true) return false;
    return held?.read == null || !isAtFloor(context, held.read.stamp);
  });
}

const isAtFloor = ({ line, floor }: AccountContext, stamp: Stamp): boolean =>
  stamp.line === line && stamp.revision === floor;

/** One text for one content, whatever the order of the keys. */
function contentOf({ entries, complete }: Snapshot): string {
  const lines = Object.keys(entries)
    .sort()
    .map((connector) => `${connector}=${entryText(entries[connector])}`);
  return fingerprint(`${String(complete)};${lines.join(';')}`);
}

const entryText = (entry: Entry | 'unreadable' | undefined): string =>
  entry === undefined || entry === 'unreadable'
    ? 'unreadable'
    : `${entry.state},${entry.connectionVersion},${entry.connectionIdHash ?? ''}`;
