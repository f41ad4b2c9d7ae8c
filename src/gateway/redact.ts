/**
 * Takes a credential out of text that goes to the caller. An upstream that echoes its request must not hand a provider key to an
 * agent. Threat C14.
 *
 * What is looked for: the credential itself, and its Base64, URL-encoded and JSON forms, in any JSON string however it is escaped. A
 * credential cut in pieces, or changed, is not found: that can't be claimed.
 */

import { endOfString } from '../protocol/raw.ts';

/** Answers the text without the credential; the same string when it is not in there. */
export type Redact = (json: string) => string;

export const REDACTED = '[redacted]';

/** Shorter ones are found in any text; taking them out would destroy results and protect nothing. */
const SHORTEST = 4;

/** Makes the redaction for one call. The text must be well-formed JSON. */
export function redacting(credential: string): Redact {
  if (credential.length < SHORTEST) return (json) => json;
  const needles = [...new Set(forms(credential))];
  const clean = (text: string): string => needles.reduce((left, needle) => left.replaceAll(needle, REDACTED), text);
  const found = (text: string): boolean => needles.some((needle) => text.includes(needle));
  const cleanString = (quoted: string): string => {
    if (!quoted.includes('\\')) return found(quoted) ? clean(quoted) : quoted;
    const value = JSON.parse(quoted) as string;
    return found(value) ? JSON.stringify(clean(value)) : quoted;
  };
  return (json) => (found(json) || json.includes('\\') ? mapStrings(json, cleanString) : json);
}

/** A credential is looked for only where a string may hold them; what stands between strings is structure, and is left alone. */
function mapStrings(json: string, change: (quoted: string) => string): string {
  const parts: string[] = [];
  let done = 0;
  for (let open = json.indexOf('"'); open !== -1; open = json.indexOf('"', done)) {
    const end = endOfString(json, open);
    parts.push(json.slice(done, open), change(json.slice(open, end)));
    done = end;
  }
  parts.push(json.slice(done));
  return parts.join('');
}

/** Letters that neither a URL nor JSON writes in another way. */
const PLAIN = /^[\w.-]+$/;

/** Padding is left off, so that the form is also found where more follows. */
function forms(credential: string): string[] {
  const bytes = Buffer.from(credential, 'utf8');
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  if (PLAIN.test(credential)) return [credential, base64, bytes.toString('base64url')];
  // In a query as it was sent, and in JSON that is itself the text of a result.
  const inQuery = new URLSearchParams([['', credential]]).toString().slice(1);
  const inJson = JSON.stringify(credential).slice(1, -1);
  return [credential, base64, bytes.toString('base64url'), encodeURIComponent(credential), inQuery, inJson];
}
