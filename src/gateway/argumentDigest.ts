/**
 * The digest of a call's arguments, by which a confirmation and an idempotency key are bound to what was asked.
 *
 * `jcs1-sha256:` and the SHA-256 of the canonical JSON of RFC 8785, with one difference: an integer that a double can't hold keeps
 * its digits. RFC 8785 alone would make 9007199254740992 and 9007199254740993 one call. Threat C22.
 */
import { hash } from 'node:crypto';

import { rawItems, rawMembers } from '../protocol/json.ts';

const SCHEME = 'jcs1-sha256:';
const INTEGER = /^-?[0-9]+$/;

/** The digest of a JSON object text. Two texts that mean the same call have the same digest. */
export function argumentDigest(argumentsText: string): string {
  return SCHEME + hash('sha256', canonical(argumentsText), 'hex');
}

/** Canonical text of a well-formed JSON text without repeated members. */
export function canonical(text: string): string {
  const json = text.trim();
  if (json.startsWith('{')) return object(json);
  if (json.startsWith('[')) return `[${rawItems(json).map(canonical).join(',')}]`;
  return INTEGER.test(json) ? integer(json) : JSON.stringify(JSON.parse(json));
}

function object(json: string): string {
  const members = rawMembers(json).map(({ name, raw }) => [name, canonical(raw)] as const);
  // By UTF-16 code units, as RFC 8785 orders them and as `<` compares.
  members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

function integer(json: string): string {
  const number = Number(json);
  return Number.isSafeInteger(number) ? JSON.stringify(number) : BigInt(json).toString();
}
