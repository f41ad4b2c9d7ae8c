/**
 * One HTTP request to an upstream, over undici: no redirects, identity encoding, a deadline for each phase, bytes counted.
 *
 * Every failure leaves as an `UpstreamFailure`, so that no error text of a socket library (which names addresses) goes further.
 */
import type { Dispatcher } from 'undici';

import type { HeaderFields } from '../../protocol/fields.ts';
import { canceled, outsideProtocol, timedOut, unreachable, UpstreamFailure } from '../upstream/failure.ts';
import { EndpointRefused } from './address.ts';

/** How long and how large, each already the smaller of the binding's and the gateway's own. */
export interface Bounds {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly requestBytes: number;
  readonly resultBytes: number;
  readonly streamBytes: number;
}

export interface Outgoing {
  readonly dispatcher: Dispatcher;
  readonly url: URL;
  readonly method: 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly bounds: Bounds;
  /** The whole call's end: the caller's disconnect, or the total deadline (its reason is an `UpstreamFailure`). */
  readonly signal: AbortSignal;
}

export interface Incoming {
  readonly status: number;
  readonly headers: HeaderFields;
  /** Ends the request when it is not read to its end. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the request now; safe at any time. */
  discard(): void;
}

/** Sends a request and answers when its headers are there. Throws `UpstreamFailure`. */
export async function send(outgoing: Outgoing): Promise<Incoming> {
  const { bounds, url } = outgoing;
  if (Buffer.byteLength(outgoing.body ?? '') > bounds.requestBytes)
    throw outsideProtocol('the request is too large for it', 'request size');
  const phase = openPhase(outgoing.signal);
  phase.within(bounds.firstByteMs, 'first byte');
  try {
    const reply = await outgoing.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: outgoing.method,
      headers: { ...outgoing.headers, 'accept-encoding': 'identity' },
      body: outgoing.body ?? null,
      signal: phase.signal,
      // Our own timers hold; undici's are coarse and would answer first with another error.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return incoming(reply, phase, bounds);
  } catch (error) {
    phase.end();
    throw failureOf(error, phase.signal, 'unsent');
  }
}

function incoming(reply: Dispatcher.ResponseData, phase: Phase, bounds: Bounds): Incoming {
  const discard = (): void => {
    phase.end();
    reply.body.on('error', () => {}).destroy();
  };
  if ((reply.headers['content-encoding'] ?? 'identity') !== 'identity') {
    discard();
    throw outsideProtocol('it compressed its answer, which was not offered', 'encoding');
  }
  return { status: reply.statusCode, headers: reply.headers, body: chunks(reply, phase, bounds), discard };
}

async function* chunks(reply: Dispatcher.ResponseData, phase: Phase, bounds: Bounds): AsyncIterable<Uint8Array> {
  let size = 0;
  phase.within(bounds.idleMs, 'idle');
  try {
    for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > bounds.streamBytes) throw outsideProtocol('its answer is too large', 'size');
      // A slow reader behind us is not the upstream's silence.
      phase.rest();
      yield chunk;
      phase.within(bounds.idleMs, 'idle');
    }
  } catch (error) {
    throw failureOf(error, phase.signal, 'begun');
  } finally {
    phase.end();
    reply.body.on('error', () => {}).destroy();
  }
}

/** The signal of one request: the call's own, and a timer that is set anew for each phase. */
interface Phase {
  readonly signal: AbortSignal;
  within(ms: number, phase: string): void;
  rest(): void;
  end(): void;
}

function openPhase(call: AbortSignal): Phase {
  const controller = new AbortController();
  const passOn = (): void => controller.abort(call.reason);
  let timer: NodeJS.Timeout | undefined;
  if (call.aborted) passOn();
  else call.addEventListener('abort', passOn, { once: true });
  const rest = (): void => clearTimeout(timer);
  return {
    signal: controller.signal,
    within(ms, phase) {
      rest();
      timer = setTimeout(() => controller.abort(timedOut(phase)), ms);
    },
    rest,
    end: () => (rest(), call.removeEventListener('abort', passOn)),
  };
}

function failureOf(error: unknown, signal: AbortSignal, stage: 'unsent' | 'begun'): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (signal.aborted) return signal.reason instanceof UpstreamFailure ? signal.reason : canceled();
  if (error instanceof EndpointRefused) return outsideProtocol(error.message, 'endpoint');
  const code = codeOf(error);
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return outsideProtocol('it is not HTTP', 'http');
  return stage === 'begun' ? outsideProtocol('its answer was cut off', 'cut') : unreachable(code);
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'connection';
}
