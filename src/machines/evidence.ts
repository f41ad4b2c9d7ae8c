/**
 * What a machine is given. An event of the log is cut into evidence by reconcile/evolve.ts: the part that concerns one account,
 * or one route. Times are ms since epoch, positions are places in the log; both come in as data.
 */
import type { Entry, Payload, Stamp, Uint64 } from '../events/index.ts';

/** What this device knows of a connector. `null` in its place: not installed. */
export interface Device {
  readonly release: { readonly version: string; readonly digest: string };
  readonly kind: Payload<'connector.installed'>['kind'];
  readonly authorization: Payload<'connector.installed'>['authorization'];
  readonly enabled: boolean;
  /** Why it can't run here, as far as anything is decided by it. */
  readonly incompatible: 'not-installed' | 'incompatible' | null;
}

/** Whether any read must speak about a route before it may be shown: remote, and with an authorization. */
export const needsAuthorization = (device: Device): boolean =>
  device.kind === 'remote' && device.authorization !== 'none';

/** Whether a route lives on this device whatever the account: not remote, and without an authorization. Law L15. */
export const isExempt = (device: Device): boolean => device.kind !== 'remote' && device.authorization === 'none';

/** A read of the server that was accepted, as far as one connector is concerned. `entry` null: absent from a complete read. */
export interface ReadEvidence {
  readonly type: 'read';
  readonly stamp: Stamp;
  readonly entry: Entry | null;
  /** Position that the log had when the request left. */
  readonly startedAt: number;
  readonly epoch: number;
  /** Position of the event that began the epoch. */
  readonly epochAt: number;
  readonly atMs: number;
}

export type RouteEvidence =
  | { readonly type: 'device'; readonly device: Device | null }
  | ReadEvidence
  | { readonly type: 'unreadable'; readonly epoch: number }
  /** One side of a torn revision: closed wins, and nothing else of it counts as a read. */
  | { readonly type: 'torn'; readonly stamp: Stamp; readonly entry: Entry | null }
  | { readonly type: 'adopted' }
  | { readonly type: 'rejected'; readonly position: number; readonly atMs: number }
  | {
      readonly type: 'dropping';
      readonly position: number;
      readonly epoch: number;
      readonly line: number;
      readonly floor: Uint64 | null;
    }
  | { readonly type: 'dropped'; readonly position: number; readonly revision: Uint64 | null }
  | { readonly type: 'dropFailed'; readonly position: number }
  | { readonly type: 'unreached' }
  | { readonly type: 'opened'; readonly atMs: number }
  | {
      readonly type: 'failed';
      readonly atMs: number;
      readonly contract: boolean;
      readonly retryAfterMs: number;
      readonly jitter: number;
    }
  | { readonly type: 'ticked'; readonly nowMs: number };

export type RouteEvidenceOf<T extends RouteEvidence['type']> = Extract<RouteEvidence, { type: T }>;

/** A reply of the server that reconcile/judge.ts has judged, as far as the account is concerned. */
interface JudgedRead {
  readonly position: number;
  readonly atMs: number;
  readonly startedAt: number;
  readonly revision: Uint64;
  readonly serverEpoch: Uint64 | null;
  readonly complete: boolean;
}

export type AccountEvidence =
  | { readonly type: 'activated'; readonly position: number; readonly atMs: number; readonly epoch: number }
  | { readonly type: 'left' }
  | ({ readonly type: 'accepted' } & JudgedRead)
  | ({ readonly type: 'adopted' } & JudgedRead)
  | {
      readonly type: 'dissented';
      readonly atMs: number;
      readonly revision: Uint64;
      readonly content: string;
      readonly torn: boolean;
    }
  | { readonly type: 'refused'; readonly atMs: number; readonly holdOffMs: number }
  | { readonly type: 'failed'; readonly atMs: number; readonly retryAfterMs: number; readonly jitter: number }
  | { readonly type: 'hinted'; readonly position: number; readonly atMs: number; readonly revision: Uint64 }
  | { readonly type: 'wished'; readonly position: number; readonly atMs: number }
  | { readonly type: 'reset'; readonly position: number; readonly atMs: number }
  | { readonly type: 'ticked'; readonly nowMs: number };
