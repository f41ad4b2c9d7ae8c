/**
 * Requests to the control plane in the name of one account: the cookie is read for each, and only for the account that the request
 * was frozen under. What comes back is bytes within a cap, or a refusal told apart by kind; no body reaches an error message.
 */
import { limits, readControlFailure, type ControlFailure, type ControlRequest } from '../../protocol/index.ts';
import { DeadlineError, within } from '../deadline.ts';
import { below, BodyTooLarge, readBody, type Pools } from '../pools.ts';
import type { Sessions } from './sessions.ts';

export type ControlReply =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly contentType: string }
  | { readonly ok: false; readonly failure: ControlFailure };

/** No reply at all: the network, or our own deadline or cap. */
export class ControlUnreachable extends Error {
  override readonly name = 'ControlUnreachable';
  readonly reason: 'timeout' | 'unreachable' | 'size' | 'aborted';
  constructor(reason: ControlUnreachable['reason']) {
    super(`the control plane did not answer: ${reason}`);
    this.reason = reason;
  }
}

export interface ControlPlane {
  /** Throws SessionRefused (nothing was sent) and {@link ControlUnreachable}. */
  send(request: ControlRequest, account: string, signal: AbortSignal, caps?: ControlCaps): Promise<ControlReply>;
}

export interface ControlCaps {
  readonly totalMs: number;
  readonly bytes: number;
}
const ordinary: ControlCaps = { totalMs: limits.gapMs, bytes: limits.snapshotBytes };

export interface ControlPlaneOptions {
  readonly baseUrl: string;
  readonly sessions: Sessions;
  readonly pools: Pools;
}

export function controlPlane({ baseUrl, sessions, pools }: ControlPlaneOptions): ControlPlane {
  const send = async (
    request: ControlRequest,
    cookie: string,
    signal: AbortSignal,
    bytes: number,
  ): Promise<ControlReply> => {
    const url = below(baseUrl, request.path);
    const { statusCode, headers, body } = await pools.for(url, 'control').request({
      path: url.pathname,
      method: request.method,
      headers: headersOf(request, cookie),
      body: request.body ?? null,
      signal,
    });
    const read = await readBody(body, bytes);
    if (statusCode < 200 || statusCode > 299)
      return { ok: false, failure: readControlFailure(statusCode, headers, read, Date.now()) };
    return { ok: true, bytes: read, contentType: String(headers['content-type'] ?? '') };
  };
  return {
    send: async (request, account, signal, caps = ordinary) => {
      const { cookie } = await sessions.of(account);
      try {
        return await within(caps.totalMs, signal, (inner) => send(request, cookie, inner, caps.bytes));
      } catch (error) {
        throw new ControlUnreachable(reasonOf(error, signal));
      }
    },
  };
}

function headersOf(request: ControlRequest, cookie: string): Record<string, string> {
  const body = request.body === undefined ? {} : { 'content-type': 'application/json' };
  return { accept: 'application/json', 'accept-encoding': 'identity', cookie, ...body };
}

function reasonOf(error: unknown, signal: AbortSignal): ControlUnreachable['reason'] {
  if (signal.aborted) return 'aborted';
  if (error instanceof DeadlineError) return 'timeout';
  if (error instanceof BodyTooLarge) return 'size';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /TIMEOUT/.test(code) ? 'timeout' : 'unreachable';
}
