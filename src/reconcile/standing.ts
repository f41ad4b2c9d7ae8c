/**
 * Whether a route is wanted, and the one reason why not: the account is asked first, then the route's machine. The closed list of
 * reasons is what `status` and `why` show and what `schemas/` publishes.
 */
import { isExempt, needsAuthorization, type RouteValue } from '../machines/index.ts';
import type { RouteRecord, State } from './state.ts';

/** Why a route may not be seen. What the machine does not know, the account or the log does. */
export type Reason = Exclude<RouteValue, 'wanted'> | 'signed-out' | 'other-account' | 'stale' | 'newer-event';

export interface Standing {
  readonly wanted: boolean;
  readonly reason: Reason | null;
  /** Epoch under which a handle of this route must have been opened: the boot, or the login. */
  readonly epoch: number;
}

export function standingOf(state: State, route: RouteRecord): Standing {
  const epoch = route.account === null ? state.head.boot : (state.head.active?.epoch ?? 0);
  const reason = deviceReason(state, route) ?? accountReason(state, route) ?? machineReason(route);
  return { wanted: reason === null, reason, epoch };
}

/** Facts of the device come first: a connector that is not here needs no account to say so. */
function deviceReason(state: State, route: RouteRecord): Reason | null {
  if (state.foreign.has(route.connector)) return 'newer-event';
  const { device } = route.machine.context;
  const installed = state.connectors.get(route.connector);
  if (device === null || installed === undefined || installed.boot !== state.head.boot) return 'not-installed';
  if (device.incompatible !== null) return device.incompatible;
  if (device.kind !== 'remote' && !isExempt(device)) return 'local-credential-unsupported';
  return device.enabled ? null : 'disabled';
}

/** Laws L1 and L2: only the active account, and only what a read of this epoch has spoken about. */
function accountReason(state: State, route: RouteRecord): Reason | null {
  if (route.account === null) return waitsForAccount(route) ? 'signed-out' : null;
  const { active } = state.head;
  if (active === null) return 'signed-out';
  if (active.account !== route.account) return 'other-account';
  const { device, seenIn } = route.machine.context;
  if (device === null || !needsAuthorization(device)) return null;
  if (state.accounts.get(route.account)?.machine.value === 'expired') return 'stale';
  return seenIn === active.epoch || saysMore(route.machine.value) ? null : 'unknown';
}

/** A connector that belongs to accounts, shown while there is none. */
const waitsForAccount = ({ machine: { context } }: RouteRecord): boolean =>
  context.device !== null && !isExempt(context.device);

/** Reasons that say more than that no read of this epoch has spoken about the connector. */
const saysMore = (value: RouteValue): boolean => value === 'dropped' || value === 'rejected' || value === 'unreadable';

const machineReason = ({ machine: { value } }: RouteRecord): Reason | null => (value === 'wanted' ? null : value);
