/** Why the connector that a tool belongs to is not there, as the error of a call: an agent can then say what a person has to do. */
import { McpError, sessionRefused } from '../../protocol/index.ts';
import {
  isOfSession,
  reasonWords,
  type Reason,
  type FailedRead,
  type RouteStatus,
  type Status,
} from '../../reconcile/index.ts';

/** Standing that authorizing the connector would change. */
const unauthorized: ReadonlySet<Reason> = new Set(['signed-out', 'disconnected', 'dropped', 'unknown', 'rejected']);

/** What is known of the connectors of this machine. */
export interface Known {
  /** Who asks: what is still being closed of somebody else answers for nobody. */
  readonly account: Status['account'];
  readonly routes: readonly RouteStatus[];
  /** Also those that have no route, because nobody is signed in. */
  readonly installed: Iterable<string>;
}

/** Undefined when no connector of this machine owns the name. */
export function withheldBecause(
  { account, routes, installed }: Known,
  owns: (connector: string) => boolean,
): McpError | undefined {
  const connector = [...installed].find(owns);
  if (connector === undefined) return undefined;
  const route = routes.find(
    (one) => one.connector === connector && (one.account === null || one.account === account?.id),
  );
  const reason = route === undefined ? 'signed-out' : route.reason;
  if (reason === null) return refusal(-33003, `${connector} is being opened; nothing was called`);
  const { means, wouldChange } = reasonWords(reason);
  const text = `${connector} is not available: ${means}`;
  const failed = account?.failed ?? null;
  if (route?.account != null && failed !== null && dependsOnRead(reason, account, failed)) return unread(text, failed);
  return refusal(codeOf(reason, account), `${text}. What would change it: ${wouldChange}. Nothing was called`);
}

/** Standing that comes of the reads that fail. */
function dependsOnRead(reason: Reason, account: Known['account'], failed: FailedRead): boolean {
  if (reason === 'faulted') return isOfSession(failed.reason);
  return reason === 'stale' || (reason === 'unknown' && account?.synced === false);
}

function unread(text: string, { reason, nextAttemptAt }: FailedRead): McpError {
  const ours = isOfSession(reason);
  const next = ours ? 'sign the account in again' : `the next attempt is at ${new Date(nextAttemptAt).toISOString()}`;
  const message = `${text}. The last attempt to read the account failed (${reason}); ${next}. Nothing was called`;
  return refusal(-33003, message, ours ? sessionRefused : undefined);
}

function codeOf(reason: Reason, account: Known['account']): number {
  // What nobody has read yet may well be authorized.
  if (reason === 'unknown' && account?.synced === false) return -33003;
  if (reason === 'reauth-required') return -33002;
  return unauthorized.has(reason) ? -33001 : -33003;
}

/** In-band: an HTTP status of this hop would be read as a fault of the agent's own access. */
function refusal(code: number, message: string, data?: unknown): McpError {
  return new McpError(code, { message, httpStatus: 200, ...(data === undefined ? {} : { data }) });
}
