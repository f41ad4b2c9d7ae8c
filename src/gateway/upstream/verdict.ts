/**
 * What an exchange with an upstream came to: the result's text, or the failure that DESIGN 7 names for it.
 */
import { parseRetryAfter } from '../../protocol/errors.ts';
import type { Exchanged } from '../../protocol/exchange.ts';
import type { HeaderFields } from '../../protocol/fields.ts';
import type { ResultResponse } from '../../protocol/jsonrpc.ts';
import { BadResult } from '../../protocol/results.ts';
import type { Way } from './adapter.ts';
import { canceled, limited, outsideProtocol, refused, rpcFailure, timedOut, unreachable } from './failure.ts';
import type { UpstreamFailure } from './failure.ts';

/** The result of an exchange. Throws `UpstreamFailure`. */
export function resultOf(exchanged: Exchanged, way: Way): ResultResponse {
  if (exchanged.kind === 'response' && exchanged.response.kind === 'result' && isGood(exchanged.status)) {
    if (Buffer.byteLength(exchanged.response.resultText) > way.target.bounds.resultBytes)
      throw outsideProtocol('its result is larger than its binding allows', 'size');
    return exchanged.response;
  }
  throw failureOf(exchanged, way);
}

/** Reads a result with `read`; one that breaks the protocol is a failure of the upstream. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadResult) throw outsideProtocol(error.message);
    throw error;
  }
}

const isGood = (status: number): boolean => status >= 200 && status < 300;

function failureOf(exchanged: Exchanged, way: Way): UpstreamFailure {
  if (exchanged.kind !== 'broken') {
    const byStatus = failureOfStatus(exchanged.status, exchanged.headers, way);
    if (byStatus !== undefined) return byStatus;
    if (exchanged.kind === 'response' && exchanged.response.kind === 'error')
      return rpcFailure(exchanged.response.error);
    return outsideProtocol(`HTTP status ${exchanged.status}`, `http ${exchanged.status}`);
  }
  if (exchanged.status !== undefined && !isGood(exchanged.status)) {
    const byStatus = failureOfStatus(exchanged.status, {}, way);
    if (byStatus !== undefined) return byStatus;
  }
  if (way.wire.endpointRefused !== undefined) return outsideProtocol(way.wire.endpointRefused.message, 'endpoint');
  if (exchanged.why === 'aborted') return canceled();
  if (exchanged.why === 'timeout') return timedOut(exchanged.detail);
  return exchanged.why === 'unreachable' ? unreachable(exchanged.detail) : outsideProtocol(exchanged.detail);
}

/** The statuses that speak for themselves, whatever the body says. */
function failureOfStatus(status: number, headers: HeaderFields, way: Way): UpstreamFailure | undefined {
  const wait = parseRetryAfter(headers['retry-after'], way.nowMs());
  if ((status === 401 || status === 403) && way.target.injected) return refused(status);
  if (status === 429) return limited('http 429', wait);
  if (status === 408 || status === 504) return timedOut(`http ${status}`);
  return status >= 500 ? unreachable(`http ${status}`, wait) : undefined;
}
