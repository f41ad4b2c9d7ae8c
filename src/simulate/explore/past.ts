/**
 * The small server: a tree of what may have become true, one path of which is the past of an account. Nodes are made once, so that
 * one past is one object and one number.
 */
import { uint64, type Authorization, type Payload } from '../../events/index.ts';

type Snapshot = Payload<'snapshot.received'>;
export type Reply = Pick<Snapshot, 'serverEpoch' | 'revision' | 'complete' | 'entries'>;

export interface Line {
  readonly state: Authorization;
  readonly version: number;
  readonly hash: number;
}

export interface Past {
  readonly id: number;
  readonly parent: Past | null;
  /** Changes since the first. */
  readonly depth: number;
  readonly serverEpoch: number | null;
  readonly revision: number;
  /** By connector; absent: never connected. */
  readonly lines: Readonly<Record<string, Line>>;
  /** What a truthful reply says. */
  readonly reply: Reply;
  readonly children: Map<string, Past>;
}

let made = 0;

/** The first truth of an account. */
export const beginPast = (lines: Past['lines'], serverEpoch: number | null): Past => make(null, 1, serverEpoch, lines);

function make(parent: Past | null, revision: number, serverEpoch: number | null, lines: Past['lines']): Past {
  made++;
  const depth = parent === null ? 0 : parent.depth + 1;
  const reply = replyOf(serverEpoch, revision, lines);
  return { id: made, parent, depth, serverEpoch, revision, lines, reply, children: new Map() };
}

/** The same object for the same change. */
function child(past: Past, name: string, revision: number, serverEpoch: number | null, lines: Past['lines']): Past {
  const known = past.children.get(name);
  if (known !== undefined) return known;
  const born = make(past, revision, serverEpoch, lines);
  past.children.set(name, born);
  return born;
}

/** Changes of one connector that a server makes, and one (`back`) that a truthful one does not. */
export type Change = 'connect' | 'revoke' | 'expire' | 'rotate' | 'default' | 'forget' | 'back';

/** The past after a change of one connector, or `null` where it would change nothing. */
export function change(past: Past, connector: string, what: Change): Past | null {
  const line = past.lines[connector];
  const next = edited(line, what);
  if (next === null) return null;
  const { [connector]: _, ...others } = past.lines;
  const lines = next === undefined ? others : { ...others, [connector]: next };
  return child(past, `${what} ${connector}`, past.revision + 1, past.serverEpoch, lines);
}

/** `undefined`: the line is gone; `null`: the change is none. */
function edited(line: Line | undefined, what: Change): Line | undefined | null {
  if (what === 'connect')
    return line?.state === 'connected'
      ? null
      : { state: 'connected', version: (line?.version ?? 0) + 1, hash: line?.hash ?? 1 };
  if (line === undefined) return null;
  if (what === 'forget') return undefined;
  if (line.state !== 'connected') return null;
  if (what === 'revoke') return { ...line, state: 'disconnected' };
  if (what === 'expire') return { ...line, state: 'reauth_required' };
  if (what === 'rotate') return { ...line, version: line.version + 1 };
  if (what === 'default') return { ...line, hash: line.hash + 1 };
  return line.version === 0 ? null : { ...line, version: line.version - 1 };
}

/** A backup of an older truth comes back; with an epoch of its own where the server speaks of epochs. */
export function restore(past: Past, to: Past): Past {
  const serverEpoch = past.serverEpoch === null ? null : past.serverEpoch + 1;
  return child(past, `restore ${String(to.id)}`, to.revision, serverEpoch, to.lines);
}

/** Older truths, newest first. */
export function* before(past: Past): Iterable<Past> {
  for (let one = past.parent; one !== null; one = one.parent) yield one;
}

function replyOf(serverEpoch: number | null, revision: number, lines: Past['lines']): Reply {
  const entries: Record<string, Snapshot['entries'][string]> = {};
  for (const [connector, line] of Object.entries(lines)) entries[connector] = entryOf(line);
  return {
    serverEpoch: serverEpoch === null ? null : uint64(serverEpoch),
    revision: uint64(revision),
    complete: true,
    entries,
  };
}

const entryOf = ({ state, version, hash }: Line): Exclude<Snapshot['entries'][string], 'unreadable'> => ({
  state,
  connectionVersion: uint64(version),
  connectionIdHash: `h${String(hash)}`,
  releaseVersion: null,
});

/** The same revision with another state of one connector: what a torn server says. */
export function torn({ reply }: Past, connector: string): Reply | null {
  const entry = reply.entries[connector];
  if (entry === undefined || entry === 'unreadable') return null;
  const state = entry.state === 'connected' ? 'disconnected' : 'connected';
  return { ...reply, entries: { ...reply.entries, [connector]: { ...entry, state } } };
}

/** One entry that can't be read. */
export const garbled = ({ reply }: Past, connector: string): Reply => ({
  ...reply,
  entries: { ...reply.entries, [connector]: 'unreadable' },
});

/** A reply that was cut, and says so. */
export const cut = ({ reply }: Past): Reply => ({ ...reply, complete: false, entries: {} });
