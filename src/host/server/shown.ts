/** What the list and the call both stand on: the table as it is now, and whether something is still in it. */
import { rejectionOf, type Failure, type McpError, type RejectionCode } from '../../protocol/index.ts';
import type { PublishedRoute, RouteTable } from '../../reconcile/index.ts';
import type { Handle, Handles } from '../routes/handles.ts';
import type { Cursors } from './cursor.ts';
import type { Naming } from './names.ts';

export interface AggregateOptions {
  readonly table: () => RouteTable;
  readonly handles: Handles;
  readonly naming: Naming;
  readonly cursors: Cursors;
  readonly listDeadlineMs: number;
  /** An owner's gateway refused on behalf of the authorization. `route` is as it was when the request began. */
  readonly onRejected: (route: PublishedRoute, code: RejectionCode) => void;
  /** Why a connector that owns this name is not published, as an error for the agent; undefined when none does. */
  readonly withheld: (owns: (connector: string) => boolean) => McpError | undefined;
}

/** Whether this very route, of this generation and login and behind this handle, is shown now. */
export function isShown({ table, handles }: AggregateOptions, route: PublishedRoute, handle: Handle): boolean {
  const same = [...table().values()].some(
    ({ account, connector, generation, epoch }) =>
      account === route.account &&
      connector === route.connector &&
      generation === route.generation &&
      epoch === route.epoch,
  );
  return same && handles.find(route) === handle;
}

/** Tells the core of a rejection, if it is one. */
export function tellRejection({ onRejected }: AggregateOptions, route: PublishedRoute, why: Failure): void {
  const code = rejectionOf(why);
  if (code !== undefined) onRejected(route, code);
}
