/** Which effect an event is the outcome of. Every effect ends in exactly one event (law L14), so a log tells what was decided. */
import { isUnknown, type RecordedEvent } from '../events/index.ts';
import type { Effect } from '../reconcile/index.ts';

const KINDS: Readonly<Partial<Record<string, Effect['kind']>>> = {
  'snapshot.received': 'fetchSnapshot',
  'snapshot.failed': 'fetchSnapshot',
  'route.opened': 'openRoute',
  'route.openFailed': 'openRoute',
  'route.closed': 'closeRoute',
};

/** The effect that ended in this event, or `null`. */
export function effectOf(event: RecordedEvent): Effect | null {
  const kind = KINDS[event.type];
  if (kind === undefined || isUnknown(event)) return null;
  const data = event.data as { account: string | null; epoch: number; connector: string; generation: string };
  const { account, epoch, connector, generation } = data;
  if (kind === 'fetchSnapshot') return { kind, account: account ?? '', epoch };
  return { kind, account, connector, generation, epoch };
}
