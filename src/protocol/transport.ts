/** What HTTP says about a request before its body counts: who asks, by which method, in which media type, how much. */
import { answerHttp, type HttpAnswer } from './answer.ts';
import { type HeaderFields, headerField, mediaType } from './fields.ts';
import { limits } from './limits.ts';

export interface Incoming {
  readonly method: string;
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
}

/** Undefined, or the answer that refuses the request whatever its body says. */
export function checkTransport({ method, headers, body }: Incoming): HttpAnswer | undefined {
  if (method !== 'POST') return answerHttp(405, 'only POST is served here', { allow: 'POST' });
  if (mediaType(headers) !== 'application/json') return answerHttp(415, 'Content-Type must be application/json');
  if (!acceptsJson(headers)) return answerHttp(406, 'Accept must allow application/json and text/event-stream');
  if (body.byteLength > limits.requestBytes)
    return answerHttp(413, `the body is larger than ${limits.requestBytes} bytes`);
  return undefined;
}

const accepts = (headers: HeaderFields, ...types: readonly string[]): boolean => {
  const ranges = (headerField(headers, 'accept') ?? '*/*')
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return ranges.some((range) => range !== undefined && types.includes(range));
};

const acceptsJson = (headers: HeaderFields): boolean => accepts(headers, 'application/json', 'application/*', '*/*');

/** Whether an answer may be an event stream. */
export function acceptsEvents(headers: HeaderFields): boolean {
  return accepts(headers, 'text/event-stream', 'text/*', '*/*');
}

export interface Allowed {
  /** Exact `host:port` values. */
  readonly hosts: ReadonlySet<string>;
  /** Exact origins; usually none. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Keeps web pages out of a server on this machine: Host must be one of ours, exactly, and Origin absent or allowed (`null` is an
 * origin too). Undefined when both are. Threats C1 and C2.
 */
export function checkOrigin(headers: HeaderFields, allowed: Allowed): HttpAnswer | undefined {
  const host = headerField(headers, 'host');
  if (host === undefined || !allowed.hosts.has(host)) return answerHttp(403, 'this host is not served');
  const origin = headerField(headers, 'origin');
  return origin === undefined || allowed.origins.has(origin)
    ? undefined
    : answerHttp(403, 'this origin is not allowed');
}
