/** What stands beside a route's reason: since when its account is the active one, and what failed before it is tried again. */
import { isUnknown, type RecordedEvent } from '../events/index.ts';
import { accountLabel } from './accountNames.ts';
import { isForServer } from './remedy.ts';
import type { RouteRecord, State } from './state.ts';
import type { RouteStatus } from './status.ts';

/** An event that did not decide, and the words that lead to it. */
export interface Aside {
  readonly position: number;
  readonly words: string;
}

type Read = (position: number) => RecordedEvent | undefined;

/** The failure lies one wait before the attempt; further back than this it is no longer looked for. */
const MAX_BACK = 300;

/** ` for account 2`; empty where there is no other account that could be meant. */
export function whose(state: State, { account }: RouteRecord): string {
  return account === null || state.accounts.size < 2 ? '' : ` for ${accountLabel(state, account)}`;
}

export function asidesOf(state: State, route: RouteRecord, status: RouteStatus, read: Read): readonly Aside[] {
  return [switched(state, route, status), failed(route, status, read), contradicted(state, route, status)].filter(
    (aside) => aside !== null,
  );
}

/** What one account has another may lack: then the switch is why the tools are gone. */
function switched(state: State, { account }: RouteRecord, { state: stands }: RouteStatus): Aside | null {
  const { active } = state.head;
  if (account === null || state.accounts.size < 2 || active?.account !== account || stands === 'published') return null;
  return { position: active.at, words: `${capital(accountLabel(state, account))} has been active since` };
}

function failed(route: RouteRecord, { state: stands }: RouteStatus, read: Read): Aside | null {
  if (stands !== 'opening' || route.machine.context.attempts === 0) return null;
  const from = route.since - 1;
  for (let position = from; position > Math.max(0, from - MAX_BACK); position--)
    if (isFailureOf(route, read(position))) return { position, words: 'The last attempt ended with' };
  return null;
}

/** What is believed of it is not what the server says by now: an older revision, or another answer at the same one. */
function contradicted({ accounts }: State, route: RouteRecord, status: RouteStatus): Aside | null {
  const record = accounts.get(route.account ?? '');
  if (record?.machine.value !== 'dissenting' || !isForServer(route, status)) return null;
  return { position: record.since, words: 'The server has contradicted itself since' };
}

function isFailureOf(route: RouteRecord, event: RecordedEvent | undefined): boolean {
  if (event === undefined || isUnknown(event)) return false;
  if (event.type !== 'route.openFailed' && event.type !== 'route.exited') return false;
  const { account, connector, reason } = event.data;
  return account === route.account && connector === route.connector && reason !== 'aborted';
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
