/**
 * Header values that carry any text: plain where a header field is safe, else `=?base64?…?=` around the Base64 of UTF-8.
 *
 * Encoding is not left to the HTTP library: it refuses control characters, but trims spaces and takes Latin-1, so that a name would
 * arrive changed and the server would call it a mismatch. Sources: MCP 2026-07-28 transports; facts of reliability B12.
 */
import { limits } from './limits.ts';

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const SAFE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const VISIBLE = /^[\t\x20-\x7e]*$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

const looksEncoded = (value: string): boolean =>
  value.startsWith(PREFIX) && value.endsWith(SUFFIX) && value.length >= PREFIX.length + SUFFIX.length;

/** The header value for a text; undefined for a text that UTF-8 cannot carry (a lone surrogate) or that is too long for a header. */
export function encodeHeaderValue(value: string): string | undefined {
  if (LONE_SURROGATE.test(value)) return undefined;
  const plain = SAFE.test(value) && !looksEncoded(value);
  const encoded = plain ? value : PREFIX + Buffer.from(value, 'utf8').toString('base64') + SUFFIX;
  return encoded.length <= limits.parameterBytes ? encoded : undefined;
}

/**
 * The text behind a header value, whitespace around it ignored; undefined when it is no header value at all, or marked as Base64
 * and is not: bad alphabet, bad padding, padding bits that are not zero, or bytes that are not UTF-8. Markers are exact.
 */
export function decodeHeaderValue(header: string): string | undefined {
  const value = header.replace(/^[\t ]+|[\t ]+$/g, '');
  if (!VISIBLE.test(value)) return undefined;
  if (!looksEncoded(value)) return value;
  const base64 = value.slice(PREFIX.length, -SUFFIX.length);
  if (!BASE64.test(base64)) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? decodeUtf8(bytes) : undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
