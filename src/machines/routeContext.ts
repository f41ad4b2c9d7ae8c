/**
 * What is held of one route between two pieces of evidence. Apart from the functions that change it, because belief, attempts and
 * tombstone each change some members and need the others. Every such function returns the whole next context, or the very same one
 * where nothing differs: the table asks by identity.
 */
import type { Entry, Stamp, Uint64 } from '../events/index.ts';
import type { Device } from './evidence.ts';

/** What was last read of a connector, and where in the server's history. */
export interface Read {
  readonly stamp: Stamp;
  readonly entry: Entry;
}

/** A rejection (428, -33001, -33002) that no read has answered yet. Lies over the belief without touching it. */
export interface Overlay {
  readonly position: number;
  readonly holdUntilMs: number;
  readonly connectionIdHash: string | null;
  readonly connectionVersion: Uint64 | null;
  /** A read begun after the rejection says connected, on the same connection: only the hold-off is left. */
  readonly confirmed: boolean;
}

/** The user disconnects here. `needs` says which read may bring the route back once the server has answered. */
export interface Tombstone {
  readonly epoch: number;
  readonly line: number;
  readonly floor: Uint64 | null;
  readonly answeredAt: number | null;
  readonly needs: { readonly atLeast: Uint64 } | { readonly above: Uint64 } | 'any';
}

export interface RouteContext {
  readonly device: Device | null;
  readonly read: Read | null;
  /** Epoch of the newest accepted read that spoke about this connector; 0: none ever. Law L2. */
  readonly seenIn: number;
  readonly unreadable: boolean;
  /** Greatest connectionVersion read of one connection. Falls only after three reads that agree on less. */
  readonly highWater: { readonly connectionIdHash: string | null; readonly connectionVersion: Uint64 } | null;
  readonly regress: { readonly count: number; readonly lastAtMs: number } | null;
  /** How often the high-water fell: a fence of an earlier water does not bind. */
  readonly falls: number;
  readonly overlay: Overlay | null;
  /** k of the hold-off, per connection hash and version. */
  readonly strikes: {
    readonly connectionIdHash: string | null;
    readonly connectionVersion: Uint64 | null;
    readonly k: number;
  } | null;
  readonly tombstone: Tombstone | null;
  /** Rises with every change of release, connection, version or line and with every rejection; never falls. Part of the generation. */
  readonly count: number;
  readonly attempts: number;
  readonly openedAtMs: number | null;
  readonly fault: { readonly retryAtMs: number; readonly contract: boolean } | null;
}

export const unread: RouteContext = {
  device: null,
  read: null,
  seenIn: 0,
  unreadable: false,
  highWater: null,
  regress: null,
  falls: 0,
  overlay: null,
  strikes: null,
  tombstone: null,
  count: 0,
  attempts: 0,
  openedAtMs: null,
  fault: null,
};
