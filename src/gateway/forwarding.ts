/**
 * One forwarded request from the authority's permission to its report: a place, a target, a deadline, and an outcome that is
 * reported exactly once, however it ends.
 */
import type { AskOptions, CallOutcome, OutcomeReport, Principal, Upstream } from '../protocol/authority.ts';
import { McpError } from '../protocol/errors.ts';
import { rawObject } from '../protocol/raw.ts';
import type { Stop } from '../protocol/stop.ts';
import { openWire } from './egress/post.ts';
import type { Door } from './door.ts';
import type { Inbound } from './inbound.ts';
import { redacting } from './redact.ts';
import type { Redact } from './redact.ts';
import { adapterOf } from './upstream/adapter.ts';
import type { Adapter, Way } from './upstream/adapter.ts';
import { outsideProtocol, UpstreamFailure } from './upstream/failure.ts';
import { targetOf } from './upstream/target.ts';

export interface Permission {
  readonly callId: string;
  readonly connectorId: string;
  readonly principal: Principal;
  readonly upstream: Upstream;
  readonly traceId: string;
  readonly stop: Stop;
  /** Resolves when the caller has taken what was sent to it; undefined when it has. */
  readonly rest: () => Promise<void> | undefined;
  /** The call has an idempotency key: its result is reported, so that a repetition can be answered. */
  readonly repeatable: boolean;
}

/** What a forwarded request is reported as. `stored` is what a repetition by idempotency key is answered with. */
export interface Done<T> {
  readonly value: T;
  readonly outcome: CallOutcome;
  readonly stored?: string;
}

/** Runs `work` with an upstream that may be used for it. Throws `McpError`, already reported. */
export async function forward<T>(
  door: Door,
  permission: Permission,
  work: (adapter: Adapter, way: Way) => Promise<Done<T>>,
): Promise<T> {
  const startedAt = door.now();
  const redact = redacting(permission.upstream.credential);
  const report = (outcome: CallOutcome, detail?: string, stored?: string): void =>
    door.audit.report(outcomeReport(permission, outcome, door.now() - startedAt, detail, stored));
  try {
    const { value, outcome, stored } = await admitted(door, permission, redact, work);
    report(outcome, undefined, stored);
    return value;
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined;
    if (failure === undefined)
      door.log('error', 'a forwarded request broke', { traceId: permission.traceId, error: nameOf(error) });
    const answer = redacted(failure?.answer ?? new McpError(-32603), redact);
    const stored = failure?.outcome === 'rpc_error' ? errorText(answer) : undefined;
    report(failure?.outcome ?? 'upstream_protocol', failure?.detail ?? 'internal', stored);
    throw answer;
  }
}

async function admitted<T>(
  door: Door,
  { connectorId, principal, upstream, stop, rest }: Permission,
  redact: Redact,
  work: (adapter: Adapter, way: Way) => Promise<Done<T>>,
): Promise<Done<T>> {
  const place = door.admission.forward(connectorId, principal, upstream);
  try {
    const target = targetOf(upstream, door.bounds.upstream);
    const adapter = adapterOf(upstream.mode);
    if (adapter === undefined) throw outsideProtocol('its binding names a mode that is not served here', 'mode');
    const wire = openWire(door.agents, target, rest);
    const way = {
      target,
      wire,
      clientInfo: door.serverInfo,
      sender: door.sender,
      stop,
      endMs: door.now() + target.totalMs,
      nowMs: door.now,
      redact,
    };
    const done = await work(adapter, way);
    place.healthy();
    return done;
  } catch (error) {
    if (error instanceof UpstreamFailure)
      (isAway(error.outcome) ? place.away : isHealthy(error.outcome) ? place.healthy : ignore)();
    throw error;
  } finally {
    place.leave();
  }
}

const ignore = (): void => {};
const isAway = (outcome: CallOutcome): boolean => outcome === 'upstream_unavailable' || outcome === 'upstream_timeout';
/** A caller that went away, and a call that was not sent, tell nothing about the upstream. */
const isHealthy = (outcome: CallOutcome): boolean => outcome !== 'canceled' && outcome !== 'not_sent';

/** Results above this are not kept for a repetition; the repetition is told so. */
const STORED_BYTES = 65_536;

function outcomeReport(
  { callId, traceId, repeatable }: Permission,
  outcome: CallOutcome,
  durationMs: number,
  detail: string | undefined,
  stored: string | undefined,
): OutcomeReport {
  const kept = repeatable && stored !== undefined && Buffer.byteLength(stored) <= STORED_BYTES;
  return {
    callId,
    outcome,
    durationMs,
    traceId,
    ...(detail === undefined ? {} : { detail }),
    ...(kept ? { result: stored } : {}),
  };
}

/** The error object, as it would stand in a response. */
function errorText({ code, message, dataText }: McpError): string {
  return rawObject([
    ['code', String(code)],
    ['message', JSON.stringify(message)],
    ['data', dataText],
  ]);
}

/** An upstream may echo its credential in an error too. */
function redacted(error: McpError, redact: Redact): McpError {
  const { code, dataText, data, httpStatus, retryAfterMs } = error;
  const message = JSON.parse(redact(JSON.stringify(error.message))) as string;
  return new McpError(code, {
    message,
    data,
    httpStatus,
    ...(dataText === undefined ? {} : { dataText: redact(dataText) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** What was read, or the error that reading it came to. */
export function orThrow<T>(read: T | McpError): T {
  if (read instanceof McpError) throw read;
  return read;
}

/** How the authority is asked: given up with the caller, and in time. */
export function asking(door: Door, { stop }: Inbound): AskOptions {
  return { stop, deadlineMs: door.bounds.authorityMs };
}

/** The authority's answer together with the request that it is for. */
export function permission(
  { connectorId, traceId, stop, rest }: Inbound,
  given: Pick<Permission, 'callId' | 'principal' | 'upstream'>,
  repeatable = false,
): Permission {
  return { connectorId, traceId, stop, rest, repeatable, ...given };
}
