/** Why the connector that a tool belongs to is not there, as the error of a call: an agent can then say what a person has to do. */
import { McpError } from '../../protocol/index.ts';
import { reasonWords, type Reason, type RouteStatus } from '../../reconcile/index.ts';

/** Standing that authorizing the connector would change. */
const unauthorized: ReadonlySet<Reason> = new Set(['signed-out', 'disconnected', 'dropped', 'unknown', 'rejected']);

/** What is known of the connectors of this machine. */
export interface Known {
  /** Who asks: what is still being closed of somebody else answers for nobody. */
  readonly account: string | null;
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
  const route = routes.find((one) => one.connector === connector && (one.account === null || one.account === account));
  const reason = route === undefined ? 'signed-out' : route.reason;
  if (reason === null) return refusal(-33003, `${connector} is being opened; nothing was called`);
  const { means, wouldChange } = reasonWords(reason);
  return refusal(
    codeOf(reason),
    `${connector} is not available: ${means}. What would change it: ${wouldChange}. Nothing was called`,
  );
}

function codeOf(reason: Reason): number {
  if (reason === 'reauth-required') return -33002;
  return unauthorized.has(reason) ? -33001 : -33003;
}

/** In-band: an HTTP status of this hop would be read as a fault of the agent's own access. */
function refusal(code: number, message: string): McpError {
  return new McpError(code, { message, httpStatus: 200 });
}
