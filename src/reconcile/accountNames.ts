/** Accounts as a person names them: by id, or by the order of first appearance, which redaction does not change. */
import type { State } from './state.ts';

/** The log knows no such account. The message lists those that it knows. */
export class UnknownAccount extends Error {
  override readonly name = 'UnknownAccount';
}

/** `account 1`: also in a redacted log the same one. */
export function accountLabel(state: State, account: string): string {
  return `account ${String(state.accounts.get(account)?.ordinal ?? '?')}`;
}

/** The id of the account that is meant by its id or its label. *Errors*: {@link UnknownAccount}. */
export function accountNamed(state: State, text: string): string {
  if (state.accounts.has(text)) return text;
  const known = [...state.accounts.keys()];
  const found = known.find((account) => accountLabel(state, account) === text);
  if (found !== undefined) return found;
  const list = known.map((account) => `${accountLabel(state, account)} (${account})`).join(', ');
  throw new UnknownAccount(
    `the log knows no account "${text}"; ${known.length === 0 ? 'it knows none' : `known are: ${list}`}`,
  );
}
