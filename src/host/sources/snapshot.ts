/** *fetch snapshot*, performed: one GET under the account it was asked for, one fact back whatever happens. */
import { uint64, type FactOf, type Payload } from '../../events/index.ts';
import {
  BadSnapshot,
  clampDelay,
  limits,
  readSnapshot,
  snapshotRequest,
  type Snapshot,
  type SnapshotEntry,
} from '../../protocol/index.ts';
import { canBeInstalled } from '../config.ts';
import { ControlUnreachable, type ControlPlane } from './controlPlane.ts';
import { SessionRefused } from './sessions.ts';

export interface SnapshotWish {
  readonly account: string;
  readonly epoch: number;
  /** Position of the log when the request left. */
  readonly startedAt: number;
}

export type SnapshotFact = FactOf<'snapshot.received' | 'snapshot.failed'>;

/** Never throws for what the network or the server does. */
export async function fetchSnapshot(
  plane: ControlPlane,
  wish: SnapshotWish,
  signal: AbortSignal,
): Promise<SnapshotFact> {
  try {
    const caps = { totalMs: limits.snapshotMs, bytes: limits.snapshotBytes };
    const reply = await plane.send(snapshotRequest(), wish.account, signal, caps);
    if (!reply.ok) return failed(wish, `${reply.failure.kind} (${reply.failure.status})`, reply.failure.retryAfterMs);
    if (!/^application\/json\b/i.test(reply.contentType)) return failed(wish, 'contentType');
    return received(wish, readSnapshot(reply.bytes, { account: wish.account }));
  } catch (error) {
    return failed(wish, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof BadSnapshot || error instanceof ControlUnreachable) return error.reason;
  if (error instanceof SessionRefused) return `session-${error.reason}`;
  throw error;
}

function failed({ account, epoch }: SnapshotWish, reason: string, retryAfterMs?: number): SnapshotFact {
  const wait = retryAfterMs === undefined ? null : Math.round(clampDelay(retryAfterMs));
  return { type: 'snapshot.failed', data: { account, epoch, reason, retryAfterMs: wait } };
}

function received({ account, epoch, startedAt }: SnapshotWish, snapshot: Snapshot): SnapshotFact {
  const { revision, serverEpoch, complete } = snapshot;
  const numbers = { revision: uint64(revision), serverEpoch: serverEpoch === null ? null : uint64(serverEpoch) };
  const data = { account, epoch, startedAt, complete, ...numbers, entries: entriesOf(snapshot) };
  return { type: 'snapshot.received', data };
}

/** A server may name connectors as it likes; one that no release can have here is left out, because no log could be read with it. */
function entriesOf(snapshot: Snapshot): Payload<'snapshot.received'>['entries'] {
  const lines = [...snapshot.entries].filter(([connector]) => canBeInstalled(connector));
  return Object.fromEntries(lines.map(([connector, entry]) => [connector, lineOf(entry)]));
}

function lineOf(entry: SnapshotEntry | 'unreadable'): Payload<'snapshot.received'>['entries'][string] {
  return entry === 'unreadable' ? entry : { ...entry, connectionVersion: uint64(entry.connectionVersion) };
}
