/** Why an event may say less than it seems to. Asked of the state before the event, in the words of DESIGN's own rule: laws L6, L7. */
import { isUnknown, type RecordedEvent } from '../events/index.ts';
import { generationOf } from '../machines/index.ts';
import { findRoute, type State } from '../reconcile/index.ts';

export type Remark =
  'of another sign-in' | 'of another start' | 'of another account' | 'of a handle that is not wanted';

/** Events that answer for a handle; a close says nothing about the one that is wanted. */
const OF_A_HANDLE: ReadonlySet<string> = new Set(['call.rejected', 'route.opened', 'route.openFailed', 'route.exited']);

interface Fields {
  readonly account?: unknown;
  readonly epoch?: unknown;
  readonly connector?: unknown;
  readonly generation?: unknown;
}

/** `null`: the event speaks of what is current, or of nothing that could be stale. */
export function remarkOn(state: State, event: RecordedEvent): Remark | null {
  if (isUnknown(event) || event.type === 'account.activated' || event.type === 'account.cleared') return null;
  const data = event.data as Fields;
  const { active, boot } = state.head;
  if (data.account === null) return data.epoch === boot ? handleRemark(state, event.type, data) : 'of another start';
  if (typeof data.account !== 'string' || event.type === 'server.reset') return null;
  if (data.account !== active?.account) return 'of another account';
  if (data.epoch !== undefined && data.epoch !== active.epoch) return 'of another sign-in';
  return handleRemark(state, event.type, data);
}

function handleRemark(state: State, type: string, { account, connector, generation }: Fields): Remark | null {
  if (!OF_A_HANDLE.has(type) || typeof connector !== 'string') return null;
  const route = findRoute(state, account as string | null, connector);
  const current = route !== undefined && generationOf(route.machine.context) === generation;
  return current ? null : 'of a handle that is not wanted';
}
