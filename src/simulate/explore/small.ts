/**
 * A small world: which routes there are, what may happen to them, and how often the rare things may. What is not limited by a number
 * is limited by nothing: closings that take time, replies that overtake each other, hints that are lost, repeated or late.
 */
import type { Change, Past } from './past.ts';

/** Things that may happen only so often, since each makes the world larger. */
export interface Budget {
  readonly falseRejections: number;
  readonly failedOpens: number;
  readonly exits: number;
  readonly failedFetches: number;
  /** Replies of a replica that is behind. */
  readonly lagging: number;
  readonly torn: number;
  readonly garbled: number;
  /** Replies that are not complete. */
  readonly cut: number;
  readonly crashes: number;
  readonly bogusHints: number;
  /** Disconnects by the user here. */
  readonly drops: number;
  /** Servers accepted by an operator. */
  readonly resets: number;
  readonly upgrades: number;
  /** Sleeps of eight hours, in the middle of anything. */
  readonly sleeps: number;
  /** Switches of account, and sign-ins after which nobody or the same account is active. */
  readonly switches: number;
  /** Hints of a revision that is no longer the newest, arriving late or once more. */
  readonly lateHints: number;
}
export type Limit = keyof Budget;

export const nothing: Budget = {
  falseRejections: 0,
  failedOpens: 0,
  exits: 0,
  failedFetches: 0,
  lagging: 0,
  torn: 0,
  garbled: 0,
  cut: 0,
  crashes: 0,
  bogusHints: 0,
  drops: 0,
  resets: 0,
  upgrades: 0,
  sleeps: 0,
  switches: 0,
  lateHints: 0,
};
const limits: readonly Limit[] = Object.keys(nothing) as Limit[];

/** What may still happen, two bits a limit: a state has one number of it, not sixteen. */
export type Left = number;
const places = Object.fromEntries(limits.map((limit, index) => [limit, index * 2])) as Readonly<Record<Limit, number>>;

/** *Errors*: RangeError for a limit that does not fit, which is more than 3. */
export function leftOf(budget: Partial<Budget>): Left {
  let left = 0;
  for (const limit of limits) {
    const count = budget[limit] ?? 0;
    if (!Number.isInteger(count) || count < 0 || count > 3) throw new RangeError(`${limit} must be 0 to 3`);
    left |= count << places[limit];
  }
  return left;
}
export const mayStill = (left: Left, limit: Limit): boolean => ((left >>> places[limit]) & 3) > 0;
const oneLess = (left: Left, limit: Limit): Left => (left - (1 << places[limit])) | 0;

export interface SmallWorld {
  readonly name: string;
  /** What the world is there for, in one sentence. */
  readonly about: string;
  /** Accounts, each with the connectors it begins connected with. The first one is signed in. */
  readonly accounts: Readonly<Record<string, readonly string[]>>;
  /** Connectors that an account must have connected. */
  readonly bound: readonly string[];
  /** Connectors of the device. */
  readonly exempt: readonly string[];
  /** Changes on the server, by account and connector. */
  readonly changes: readonly (readonly [account: string, connector: string, what: Change])[];
  /** How many changes the server of an account may make, restores included. */
  readonly depth: number;
  /** Accounts whose server may be restored. */
  readonly restores: readonly string[];
  /** Whether servers number their lives, so that a restored one says so. */
  readonly serverEpochs: boolean;
  readonly hints: boolean;
  readonly budget: Partial<Budget>;
}

/** A route of the small world, in a fixed order. */
export interface Slot {
  readonly account: string | null;
  readonly connector: string;
  /** Place of the account among those of the world; -1: this device. */
  readonly owner: number;
}

export const slotsOf = ({ accounts, bound, exempt }: SmallWorld): readonly Slot[] => [
  ...exempt.map((connector) => ({ account: null, connector, owner: -1 })),
  ...Object.keys(accounts).flatMap((account, owner) => bound.map((connector) => ({ account, connector, owner }))),
];

/** A snapshot on its way. `since`: the truth when it left; the reply may tell of that or of anything later. */
export interface Fetch {
  readonly account: string;
  readonly epoch: number;
  readonly startedAt: number;
  readonly since: Past;
}

/** An opening or closing under way. `could`: 1, the gateway would have opened it at some time since; 2, it would have refused. */
export interface Work {
  readonly kind: 'openRoute' | 'closeRoute';
  readonly slot: number;
  readonly generation: string;
  readonly epoch: number;
  readonly could: number;
}

/** A disconnect that the server has not answered. */
export interface Drop {
  readonly slot: number;
  readonly epoch: number;
}

/** All of the world that is not in the core. */
export interface Around {
  /** Whom the person wants to be active. */
  readonly login: string | null;
  readonly servers: Readonly<Record<string, Past>>;
  readonly fetches: readonly Fetch[];
  readonly works: readonly Work[];
  readonly drops: readonly Drop[];
  readonly left: Left;
  /** Release that the device has of the first bound connector. */
  readonly release: number;
}

// Written out, as a spread costs more than the move it is for.

export const withFetches = (
  { login, servers, works, drops, left, release }: Around,
  fetches: readonly Fetch[],
): Around => ({ login, servers, fetches, works, drops, left, release });

export const withWorks = (
  { login, servers, fetches, drops, left, release }: Around,
  works: readonly Work[],
): Around => ({
  login,
  servers,
  fetches,
  works,
  drops,
  left,
  release,
});

export const withDrops = (
  { login, servers, fetches, works, left, release }: Around,
  drops: readonly Drop[],
): Around => ({
  login,
  servers,
  fetches,
  works,
  drops,
  left,
  release,
});

export const withLogin = ({ servers, fetches, works, drops, left, release }: Around, login: string | null): Around => ({
  login,
  servers,
  fetches,
  works,
  drops,
  left,
  release,
});

/** One less of what may happen only so often. Only where {@link mayStill}. */
export const spent = ({ login, servers, fetches, works, drops, left, release }: Around, limit: Limit): Around => ({
  login,
  servers,
  fetches,
  works,
  drops,
  left: oneLess(left, limit),
  release,
});
