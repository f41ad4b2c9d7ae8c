/**
 * The decision, as a pure function of what was gathered: no clock, no store, no randomness. Who asks comes first, what they ask
 * for second, and nothing is said about the second to somebody who failed the first. DESIGN 8; seed 2.
 */
import type { CallOutcome, Refusal, Risk } from '../protocol/authority.ts';
import { limits } from '../protocol/limits.ts';
import { accepts, type PublishedBinding } from './bindings.ts';

/** All there is to know for one question, read in one query. */
export interface Gathered {
  readonly account: GatheredAccount | null;
  readonly binding: PublishedBinding | null;
  readonly connection: {
    readonly id: string;
    readonly version: number;
    readonly state: 'connected' | 'reauth_required';
  } | null;
}

export interface GatheredAccount {
  readonly id: string;
  readonly number: number;
  readonly displayName: string;
  readonly enabled: boolean;
}

/** What this identity may have of a connector. */
export type Access =
  | Refusal
  | {
      readonly outcome: 'authorized';
      readonly account: GatheredAccount;
      readonly binding: PublishedBinding;
      readonly connection: NonNullable<Gathered['connection']>;
    };

/** May this identity use this connector at this release at all? */
export const decideAccess = (gathered: Gathered, connectorVersion: string): Access => {
  const { account, binding } = gathered;
  if (account === null) return { outcome: 'unauthenticated', message: 'Sign in again: this session does not hold.' };
  if (!account.enabled) return rejected('account_disabled', 'This account is disabled; ask its operator.');
  if (binding === null)
    return rejected('unknown_connector', 'This server has no published binding for that connector.');
  if (!accepts(binding, connectorVersion)) {
    return rejected('connector_version_unsupported', 'This server does not serve that release; update the connector.');
  }
  const connection = binding.binding.authorization === 'none' ? noConnection : gathered.connection;
  if (connection === null) return { outcome: 'authorization_required', message: 'Connect this connector first.' };
  if (connection.state === 'reauth_required') {
    return { outcome: 'reauth_required', message: 'Connect this connector anew: its credential no longer holds.' };
  }
  return { outcome: 'authorized', account, binding, connection };
};

/** Stands for the connection of a connector that asks for none: it is never made, never renewed and never ends. */
const noConnection: NonNullable<Gathered['connection']> = { id: '', version: 0, state: 'connected' };

const rejected = (reason: Extract<Refusal, { outcome: 'rejected' }>['reason'], message: string): Refusal => ({
  outcome: 'rejected',
  reason,
  message,
});

/** An earlier call under the same idempotency key. */
export interface EarlierCall {
  readonly toolName: string;
  readonly argumentDigest: string;
  readonly decidedAtMs: number;
  readonly outcome: CallOutcome | null;
}

/** A confirmation that was asked for under the same idempotency key. */
export interface Confirmation {
  readonly id: string;
  readonly connectionId: string;
  readonly toolName: string;
  readonly argumentDigest: string;
  readonly definitionHash: string;
  readonly state: 'pending' | 'approved' | 'denied' | 'consumed';
  readonly expiresAtMs: number;
}

export interface CallAsked {
  readonly toolName: string;
  readonly argumentDigest: string;
  readonly definitionHash: string;
  readonly idempotencyKey: string;
  readonly confirmId: string;
}

export type CallVerdict =
  | Refusal
  | {
      readonly verdict: 'call';
      readonly risk: Risk;
      /** To be used up by this call. */ readonly confirmation: string | null;
    }
  | { readonly verdict: 'confirm'; readonly risk: Risk; readonly existing: Confirmation | null }
  | { readonly verdict: 'in_flight' }
  | { readonly verdict: 'replay'; readonly outcome: CallOutcome };

/** No call lasts longer; one that was not reported by then has an unknown end and is never made a second time. */
export const callLeaseMs: number = 10 * 60_000;

const keyShape = /^[A-Za-z0-9_.:-]{1,255}$/;

export const riskOf = ({ binding }: PublishedBinding, toolName: string): Risk =>
  Object.hasOwn(binding.risk.tools, toolName) ? (binding.risk.tools[toolName] ?? 'HIGH') : binding.risk.otherwise;

/** May this call be made, given what was asked under its key before? Only for somebody who has access. */
export const decideCall = (
  asked: CallAsked,
  found: {
    readonly risk: Risk;
    readonly connectionId: string;
    readonly earlier: EarlierCall | null;
    readonly confirmation: Confirmation | null;
  },
  now: number,
): CallVerdict => {
  if (!within(asked.toolName, limits.upstreamNameChars) || !within(asked.argumentDigest, 128)) {
    return rejected('malformed', 'Name the tool and the digest of its arguments.');
  }
  if (asked.idempotencyKey !== '' && !keyShape.test(asked.idempotencyKey)) {
    return rejected('malformed', 'An idempotency key is 1 to 255 of A-Z a-z 0-9 _ . : -');
  }
  const { earlier } = found;
  if (earlier !== null && !(earlier.outcome !== null && ranNothing.has(earlier.outcome)))
    return decideRepeat(asked, earlier, now);
  return found.risk === 'HIGH'
    ? decideHigh(asked, found, now)
    : { verdict: 'call', risk: found.risk, confirmation: null };
};

/**
 * After these nothing has run, and it is as if the call had not been asked for. Said again they would be untrue: a refusal of a
 * credential that has been renewed since withdraws a good connection, and a limit that was told to wait would never be over.
 */
const ranNothing: ReadonlySet<CallOutcome> = new Set(['not_sent', 'upstream_refused', 'upstream_limited']);

const within = (text: string, most: number): boolean => text.length > 0 && text.length <= most;

const decideRepeat = (asked: CallAsked, earlier: EarlierCall, now: number): CallVerdict => {
  if (earlier.toolName !== asked.toolName || earlier.argumentDigest !== asked.argumentDigest) {
    return rejected('idempotency_conflict', 'This idempotency key was used for another call; take a new one.');
  }
  if (earlier.outcome !== null) return { verdict: 'replay', outcome: earlier.outcome };
  // Nobody reported how it ended: it may have happened, so it is not made again under this key.
  return now - earlier.decidedAtMs < callLeaseMs
    ? { verdict: 'in_flight' }
    : { verdict: 'replay', outcome: 'canceled' };
};

const decideHigh = (
  asked: CallAsked,
  { risk, connectionId, confirmation }: { risk: Risk; connectionId: string; confirmation: Confirmation | null },
  now: number,
): CallVerdict => {
  if (asked.idempotencyKey === '') {
    return rejected(
      'idempotency_key_required',
      'This tool needs a confirmation: send an idempotency key with the call.',
    );
  }
  if (asked.definitionHash === '') {
    return rejected('contract', 'This tool needs a confirmation, which is for one definition: list the tools first.');
  }
  if (confirmation === null) return missing(asked, risk);
  const same =
    confirmation.connectionId === connectionId &&
    confirmation.toolName === asked.toolName &&
    confirmation.argumentDigest === asked.argumentDigest &&
    confirmation.definitionHash === asked.definitionHash;
  if (!same)
    return rejected('confirmation_mismatch', 'That confirmation is for another call; ask anew with a new key.');
  if (confirmation.state === 'denied') return rejected('confirmation_denied', 'A person said no to this call.');
  if (confirmation.expiresAtMs <= now) return missing(asked, risk);
  if (asked.confirmId !== '' && asked.confirmId !== confirmation.id) {
    return rejected('confirmation_unknown', 'There is no such confirmation for this call.');
  }
  return confirmation.state === 'approved'
    ? { verdict: 'call', risk, confirmation: confirmation.id }
    : { verdict: 'confirm', risk, existing: confirmation.state === 'pending' ? confirmation : null };
};

// A confirmation that is named but gone is said to be gone; without a name a new one is asked for.
const missing = (asked: CallAsked, risk: Risk): CallVerdict =>
  asked.confirmId === ''
    ? { verdict: 'confirm', risk, existing: null }
    : rejected('confirmation_expired', 'That confirmation is unknown or over; call again without it to ask anew.');
