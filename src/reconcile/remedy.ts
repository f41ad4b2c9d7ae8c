/**
 * What would change a route's standing, with the numbers of this very case: which snapshot, which revision, what time. The general
 * answer to each reason is in reasons.ts; where the state knows more, it is said here.
 */
import { needsAuthorization, type RouteContext } from '../machines/index.ts';
import { formatInstant } from './instant.ts';
import { reasonWords } from './reasons.ts';
import type { Reason } from './standing.ts';
import type { AccountRecord, RouteRecord, State } from './state.ts';
import type { RouteStatus } from './status.ts';

type Remedy = (context: RouteContext, account: AccountRecord | undefined) => string | null;

const remedies: Readonly<Partial<Record<Reason, Remedy>>> = {
  rejected: ({ overlay }) => {
    if (overlay === null) return null;
    const until = formatInstant(overlay.holdUntilMs);
    if (overlay.confirmed) return `the end of its hold-off at ${until}: then it is opened once more, by a fresh probe`;
    return `a snapshot begun after event ${String(overlay.position)} that says connected: on another connection or version it is opened at once, else not before ${until}`;
  },
  dropped: ({ tombstone }) => {
    if (tombstone === null) return null;
    if (tombstone.answeredAt === null)
      return "the server's answer to the disconnect; should it be lost, the next sign-in counts it as failed";
    const after = `a snapshot begun after event ${String(tombstone.answeredAt)}`;
    if (tombstone.needs === 'any') return `${after}, at any revision; if it says connected, the route comes back`;
    const least = 'atLeast' in tombstone.needs ? `${tombstone.needs.atLeast} or later` : undefined;
    const above = 'above' in tombstone.needs ? `after ${tombstone.needs.above}` : undefined;
    return `${after}, at revision ${least ?? above ?? ''}; if it says connected, the route comes back`;
  },
  faulted: ({ fault }) => (fault === null ? null : `the next attempt, at ${formatInstant(fault.retryAtMs)}`),
  contract: ({ fault }) =>
    fault === null
      ? null
      : `a corrected release or server; it is tried again at ${formatInstant(fault.retryAtMs)} all the same`,
  regressed: ({ highWater, regress }) =>
    highWater === null || regress === null
      ? null
      : `a snapshot with connection version ${highWater.connectionVersion} or later; or three in a row, a minute apart, that agree on the older one (${String(regress.count)} so far)`,
  unknown: (_, account) => {
    const context = account?.machine.context;
    if (context === undefined || context.failures === 0) return null;
    return `a snapshot of the account that names it; ${String(context.failures)} attempts in a row did not bring it, the next one is at ${formatInstant(context.notBeforeMs)}`;
  },
  stale: (_, account) => {
    const atMs = account?.machine.context.acceptedAtMs ?? null;
    return atMs === null
      ? null
      : `a snapshot; the last one that was accepted came at ${formatInstant(atMs)}: check that the control plane is reachable`;
  },
};

/** A phrase that completes "what would change it is …". Names no account. */
export function wouldChange(state: State, route: RouteRecord, status: RouteStatus): string {
  const account = route.account === null ? undefined : state.accounts.get(route.account);
  return [remedyOf(route, status, account), ...(isForServer(route, status) ? endOfDissent(account) : [])].join('; or ');
}

function remedyOf(route: RouteRecord, status: RouteStatus, account: AccountRecord | undefined): string {
  if (status.state === 'published') return wouldWithdraw(route);
  if (status.reason === null) return 'the outcome of opening it';
  return remedies[status.reason]?.(route.machine.context, account) ?? reasonWords(status.reason).wouldChange;
}

const FOR_SERVER: ReadonlySet<Reason | null> = new Set<Reason | null>([
  null,
  'dropped',
  'unknown',
  'unreadable',
  'reauth-required',
  'disconnected',
  'regressed',
  'rejected',
]);

/** Whether another word of the server about the connector would change how the route stands. */
export const isForServer = ({ machine: { context } }: RouteRecord, { reason }: RouteStatus): boolean =>
  context.device !== null && needsAuthorization(context.device) && FOR_SERVER.has(reason);

/** While the server contradicts itself, whatever it says of a route may be believed soon. */
function endOfDissent(account: AccountRecord | undefined): string[] {
  const dissents = account?.machine.value === 'dissenting' ? account.machine.context.dissents : null;
  if (dissents === null) return [];
  return [
    `what the server says at a newer revision, or three times in a row, a minute apart (${String(dissents.count)} so far)`,
  ];
}

function wouldWithdraw({ account, machine: { context } }: RouteRecord): string {
  if (account === null) return 'the end of its process, switching it off, or removing it would withdraw it';
  const answer =
    context.device !== null && needsAuthorization(context.device) ? 'a revocation, a refused call' : 'a refused call';
  return `${answer}, a switch of account, switching it off, or removing it would withdraw it`;
}
