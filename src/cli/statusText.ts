/** A status in words, for `status` and for `up`. */
import type { FailedRead, RouteStatus, Status } from '../reconcile/index.ts';
import { isOfSession, reasonWords } from '../reconcile/reasons.ts';
import { signInHint } from './exit.ts';
import { columns, styled } from './output.ts';

/** The core's status, and what is told of the daemon itself. */
export type Standing = Status & { readonly daemon?: { readonly readOnly?: boolean } };

/** A daemon's answer; more keys may come with it. */
export type StatusDocument = Standing & Readonly<Record<string, unknown>>;

export function statusText(status: Standing): string {
  const parts = [readOnlyLine(status), accountLine(status), routeLines(status.routes), anomalyLines(status)];
  return parts.filter((part) => part !== '').join('\n\n');
}

function readOnlyLine({ daemon }: Standing): string {
  if (daemon?.readOnly !== true) return '';
  const head = 'THE LOG TAKES NO WRITES: nothing new is published, and what is shown can only shrink.';
  return `${styled('red', head)}\n  next: free space, or make the state directory writable; it goes on by itself`;
}

function accountLine({ account }: Status): string {
  if (account === null) return 'No account is signed in: only local connectors can be shown.';
  const read =
    account.ageMs === null ? 'not read yet' : `revision ${String(account.revision)}, read ${age(account.ageMs)} ago`;
  const line = `Account ${styled('bold', account.id)}: ${read}.`;
  return account.failed == null ? line : `${line}\n${styled('yellow', failedLine(account.failed))}`;
}

function failedLine({ reason, at, nextAttemptAt }: FailedRead): string {
  const why = isOfSession(reason) ? `its session is not accepted: ${reason}` : reason;
  const again = `next attempt at ${instant(nextAttemptAt)}`;
  const help = isOfSession(reason) ? `\n  next: ${signInHint}` : '';
  return `The last attempt to read it failed at ${instant(at)} (${why}); ${again}.${help}`;
}

const instant = (ms: number): string => new Date(ms).toISOString();

/** What is published, and what is withheld and why. */
export function routeLines(routes: readonly RouteStatus[]): string {
  if (routes.length === 0) return 'No connector is installed.';
  return columns(routes.map((route) => [`  ${mark(route)}`, route.connector, route.state, detail(route)]));
}

const mark = ({ state }: RouteStatus): string =>
  state === 'published' ? styled('green', '+') : state === 'withheld' ? styled('yellow', '-') : styled('cyan', '~');

function detail(route: RouteStatus): string {
  const { connector, state, reason, tools, attempts, nextAttemptAt } = route;
  if (state === 'published') return tools === 1 ? '1 tool' : `${String(tools ?? 0)} tools`;
  if (state === 'opening' && attempts > 0)
    return `tried again after ${String(attempts)} that failed; \`dacapo why ${connector}\` names the last`;
  const why = reason === null ? '' : `${reason}: ${reasonWords(reason).means}`;
  const again = nextAttemptAt === null ? '' : `; next attempt at ${instant(nextAttemptAt)}`;
  // Its cause is text of this machine, which only the log keeps.
  const cause =
    reason === 'incompatible' || reason === 'faulted' || reason === 'contract'
      ? `; \`dacapo why ${connector}\` names the cause`
      : '';
  return `${why}${cause}${again}`;
}

function anomalyLines({ anomalies }: Status): string {
  const lines = anomalies.map(({ type, account, connector, count, lastPosition }) => {
    const whose = [connector, account].filter((name) => name !== null).join(' of ');
    return `  ${type}${whose === '' ? '' : ` (${whose})`}: ${String(count)} times, last at position ${String(lastPosition)}`;
  });
  return lines.length === 0 ? '' : ['Anomalies:', ...lines].join('\n');
}

/** `12 s`, `3 min`, `2 h`. */
function age(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${String(seconds)} s`;
  return seconds < 7200 ? `${String(Math.round(seconds / 60))} min` : `${String(Math.round(seconds / 3600))} h`;
}
