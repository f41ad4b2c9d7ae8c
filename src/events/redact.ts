/**
 * Takes the names of people out of payloads, for a log that is handed to somebody else. The same account gives the same pseudonym
 * within one key, so a redacted log replays like the original; without the key nobody can try names against it.
 */
import { createHmac } from 'node:crypto';
import { isEventType } from './parse.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields that hold an account's or a person's name. Not `connectionIdHash`: it is a hash already, names nobody, and takes part in
 * the state: another one in its place would replay to another state hash, and could win or lose a tie that it had not.
 */
const NAMES: ReadonlySet<string> = new Set(['account', 'acceptedBy']);
/** Fields of free text, where an account may be mentioned. */
const TEXTS: ReadonlySet<string> = new Set(['reason', 'detail', 'incompatible']);

/** Returns the function that redacts one payload. Feed it a log from the beginning: it learns the accounts as they appear. */
export function redactor(key: string | Uint8Array): (type: string, data: Json) => Json {
  const seen = new Map<string, string>();
  const pseudonym = (name: string): string => {
    const text = `acct-${createHmac('sha256', key).update(`acct ${name}`).digest('base64url').slice(0, 22)}`;
    seen.set(name, text);
    return text;
  };
  const field = (name: string, value: unknown): unknown => {
    if (typeof value !== 'string') return walk(value);
    if (NAMES.has(name)) return pseudonym(value);
    return TEXTS.has(name) ? withoutMentions(value, seen) : value;
  };
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, field(name, inner)]));
  };
  return (type, data) => (isEventType(type) ? (walk(data) as Json) : onlyConnector(data));
}

/** Of an event that this version does not know, nobody can say which fields are names. */
function onlyConnector(data: Json): Json {
  return typeof data['connector'] === 'string' ? { connector: data['connector'] } : {};
}

/** `text` with every account's name replaced where it stands as a word of its own. */
function withoutMentions(text: string, seen: ReadonlyMap<string, string>): string {
  let redacted = text;
  for (const [name, pseudonym] of seen) {
    const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    redacted = redacted.replace(new RegExp(`(?<![\\p{L}\\p{N}])${quoted}(?![\\p{L}\\p{N}])`, 'gu'), () => pseudonym);
  }
  return redacted;
}
