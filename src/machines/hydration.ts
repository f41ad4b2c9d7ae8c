/**
 * The arithmetic of one account: how far its belief reaches, which snapshot is still wanted, and when it may be asked for. The
 * account half of DESIGN 5.2; `account.ts` names these functions, `reconcile/judge.ts` decides which of them a reply calls.
 */
import { compareUint64, type Uint64 } from '../events/index.ts';
import { backoffMs } from './attempts.ts';
import { APART_MS } from './belief.ts';
import type { AccountEvidence } from './evidence.ts';

/** Without an accepted read for this long the account is shown as stale … */
export const STALE_MS = 600_000;
/** … and for this long its authorized routes are withdrawn. */
export const EXPIRED_MS = 3_600_000;
/** A dissent is a server that contradicts itself or us: asking again at once only hears it again. */
export const DISSENT_HOLD_MS = 60_000;
/** Under a storm of hints: one fetch now, one right after, then one a second. */
const PACE_MS = 1_000;

export interface Dissents {
  readonly count: number;
  readonly lastAtMs: number;
  readonly revision: Uint64;
  readonly content: string;
}

export interface AccountContext {
  /** Number of the login, while this account is the active one. */
  readonly epoch: number | null;
  readonly epochAt: number;
  readonly line: number;
  readonly serverEpoch: Uint64 | null;
  /** Highest revision accepted on this line; what is below is refused. */
  readonly floor: Uint64 | null;
  /** Two answers at the floor disagreed: no read of that revision is accepted any more. */
  readonly torn: boolean;
  /** A complete read was accepted at the floor: what it did not name was told to be closed. */
  readonly whole: boolean;
  /** Reads begun before this position are refused. */
  readonly resetAt: number;
  /** Position at which the open want for a snapshot arose. */
  readonly wish: number | null;
  /** A hint named this revision; shorts count the reads begun after it that fell short. */
  readonly wanted: {
    readonly revision: Uint64;
    readonly position: number;
    readonly shorts: { readonly count: number; readonly lastAtMs: number } | null;
  } | null;
  readonly dissents: Dissents | null;
  /** Fetches in a row that did not bring what was wanted. */
  readonly failures: number;
  readonly paceMs: number;
  readonly notBeforeMs: number;
  readonly acceptedAtMs: number | null;
  readonly age: 'fresh' | 'stale' | 'expired';
}

export const unheard: AccountContext = {
  epoch: null,
  epochAt: 0,
  line: 0,
  serverEpoch: null,
  floor: null,
  torn: false,
  whole: false,
  resetAt: 0,
  wish: null,
  wanted: null,
  dissents: null,
  failures: 0,
  paceMs: 0,
  notBeforeMs: 0,
  acceptedAtMs: null,
  age: 'fresh',
};

type Of<T extends AccountEvidence['type']> = Extract<AccountEvidence, { type: T }>;

export const activate = (context: AccountContext, { position, atMs, epoch }: Of<'activated'>): AccountContext => ({
  ...context,
  epoch,
  epochAt: position,
  wish: position,
  failures: 0,
  notBeforeMs: atMs,
  acceptedAtMs: null,
  age: 'fresh',
});

export const leave = (context: AccountContext): AccountContext => ({
  ...context,
  epoch: null,
  wish: null,
  acceptedAtMs: null,
  age: 'fresh',
});

/** Row "greater revision" and "equal revision": the floor, the wishes, and when to ask next. */
export function accept(context: AccountContext, read: Of<'accepted'>): AccountContext {
  const rises = context.floor === null || compareUint64(read.revision, context.floor) > 0;
  const wanted = reconsider(context.wanted, read);
  const satisfied = read.complete && wanted === null && context.wish !== null && read.startedAt >= context.wish;
  const short = wanted !== null && read.startedAt >= wanted.position;
  const { paceMs, failures, notBeforeMs } = pace(context, read.atMs, short || !read.complete);
  return {
    epoch: context.epoch,
    epochAt: context.epochAt,
    line: context.line,
    serverEpoch: read.serverEpoch ?? context.serverEpoch,
    floor: rises ? read.revision : context.floor,
    torn: rises ? false : context.torn,
    whole: read.complete || (!rises && context.whole),
    resetAt: context.resetAt,
    wish: satisfied ? null : context.wish,
    wanted,
    dissents: null,
    failures,
    paceMs,
    notBeforeMs,
    acceptedAtMs: read.atMs,
    age: 'fresh',
  };
}

/** A read begun after a hint that falls short of it counts against the hint; three ≥ 60 s apart, and the hint is given up. */
function reconsider(wanted: AccountContext['wanted'], read: Of<'accepted' | 'adopted'>): AccountContext['wanted'] {
  if (wanted === null || compareUint64(read.revision, wanted.revision) >= 0) return null;
  if (read.startedAt < wanted.position) return wanted;
  const held = wanted.shorts;
  const apart = held === null || read.atMs - held.lastAtMs >= APART_MS;
  const shorts = apart ? { count: (held?.count ?? 0) + 1, lastAtMs: read.atMs } : held;
  return shorts.count >= 3 ? null : { ...wanted, shorts };
}

/** After a read that left something to be wanted: back off. Else: two fetches at once, then one a second. */
function pace(
  context: AccountContext,
  atMs: number,
  unmet: boolean,
): Pick<AccountContext, 'paceMs' | 'failures' | 'notBeforeMs'> {
  const paceMs = Math.max(context.paceMs, atMs) + PACE_MS;
  const failures = unmet ? context.failures + 1 : 0;
  const waitMs = unmet ? Math.min(backoffMs(failures, 512), APART_MS) : 0;
  return { paceMs, failures, notBeforeMs: Math.max(atMs + waitMs, paceMs - PACE_MS) };
}

/** Row "adopt": a new line begins with nothing remembered of the old one, then this read applies. */
export function adopt(context: AccountContext, read: Of<'adopted'>): AccountContext {
  const serverEpoch = read.serverEpoch ?? context.serverEpoch;
  return accept({ ...newLine(context), serverEpoch }, { ...read, type: 'accepted' });
}

const newLine = (context: AccountContext): AccountContext => ({
  ...context,
  line: context.line + 1,
  floor: null,
  torn: false,
  whole: false,
  wanted: null,
  dissents: null,
});

/** Row "dissent": the wish stays. Whether it counts is asked of {@link countDissent}, which the judge has asked before. */
export function dissent(context: AccountContext, evidence: Of<'dissented'>): AccountContext {
  return {
    ...context,
    dissents: countDissent(context, evidence.atMs, evidence.revision, evidence.content),
    torn: context.torn || evidence.torn,
    wish: context.wish ?? context.epochAt,
    notBeforeMs: evidence.atMs + DISSENT_HOLD_MS,
  };
}

/** The dissents in a row with this one. Revisions that fall, or one revision with two contents, start the count anew. */
export function countDissent(context: AccountContext, atMs: number, revision: Uint64, content: string): Dissents {
  const held = context.dissents;
  const order = held === null ? 1 : compareUint64(revision, held.revision);
  if (held === null || order < 0 || (order === 0 && content !== held.content)) {
    return { count: 1, lastAtMs: atMs, revision, content };
  }
  if (atMs - held.lastAtMs < APART_MS) return held;
  return { count: held.count + 1, lastAtMs: atMs, revision, content };
}

export function refuse(context: AccountContext, { atMs, holdOffMs }: Of<'refused'>): AccountContext {
  const notBeforeMs = atMs + holdOffMs;
  if (context.wish !== null && context.notBeforeMs === notBeforeMs) return context;
  return { ...context, wish: context.wish ?? context.epochAt, notBeforeMs };
}

export function fail(context: AccountContext, { atMs, retryAfterMs, jitter }: Of<'failed'>): AccountContext {
  const failures = context.failures + 1;
  return {
    ...context,
    failures,
    notBeforeMs: atMs + Math.max(Math.min(backoffMs(failures, jitter), 64_000), retryAfterMs),
  };
}

/** Row "hint with revision": above the floor it ends the count of dissents; above the revision wanted it raises that. */
export function heed(context: AccountContext, { position, revision }: Of<'hinted'>): AccountContext {
  if (context.floor !== null && compareUint64(revision, context.floor) <= 0) return context;
  const rises = context.wanted === null || compareUint64(revision, context.wanted.revision) > 0;
  if (!rises && context.dissents === null) return context;
  const wanted = rises ? { revision, position, shorts: null } : context.wanted;
  return want(context, context.wish, wanted, null);
}

export const wish = (context: AccountContext, { position }: Of<'wished'>): AccountContext =>
  want(context, position, context.wanted, context.dissents);

/** Written out, as every hint and poll comes by here and a spread costs more than all the rest of it. */
const want = (
  context: AccountContext,
  position: number | null,
  wanted: AccountContext['wanted'],
  dissents: Dissents | null,
): AccountContext => ({
  epoch: context.epoch,
  epochAt: context.epochAt,
  line: context.line,
  serverEpoch: context.serverEpoch,
  floor: context.floor,
  torn: context.torn,
  whole: context.whole,
  resetAt: context.resetAt,
  wish: position,
  wanted,
  dissents,
  failures: context.failures,
  paceMs: context.paceMs,
  notBeforeMs: context.notBeforeMs,
  acceptedAtMs: context.acceptedAtMs,
  age: context.age,
});

/** Row "server.reset": adopt without a read; a reply that was under way describes the server before. */
export const reset = (context: AccountContext, { position, atMs }: Of<'reset'>): AccountContext => ({
  ...newLine(context),
  serverEpoch: null,
  resetAt: position,
  wish: context.epoch === null ? null : position,
  failures: 0,
  notBeforeMs: atMs,
});

export function grow(context: AccountContext, { nowMs }: Of<'ticked'>): AccountContext {
  const ageMs = context.acceptedAtMs === null ? 0 : nowMs - context.acceptedAtMs;
  const age = ageMs >= EXPIRED_MS ? 'expired' : ageMs >= STALE_MS ? 'stale' : 'fresh';
  return age === context.age ? context : { ...context, age };
}

/** Whether a snapshot of this account is wanted at all; {@link AccountContext.notBeforeMs} says from when on. */
export const wantsSnapshot = (context: AccountContext): boolean =>
  context.epoch !== null && (context.wish !== null || context.wanted !== null);

/** The next instant that would change this account by itself, in ms since epoch. */
export function accountDeadline(context: AccountContext, nowMs: number): number | null {
  if (context.epoch === null) return null;
  const fetchMs = wantsSnapshot(context) && context.notBeforeMs > nowMs ? context.notBeforeMs : Infinity;
  const ageMs = context.age === 'fresh' ? STALE_MS : context.age === 'stale' ? EXPIRED_MS : Infinity;
  const nextMs = Math.min(fetchMs, context.acceptedAtMs === null ? Infinity : context.acceptedAtMs + ageMs);
  return nextMs === Infinity ? null : nextMs;
}
