/**
 * When agents are told that the tools changed: when what they would see is another, and only then. A revision that moves, or a
 * route that is renewed with the same tools, is told to nobody (peers 19); a storm is told once.
 */
import { auditTime, distinctUntilChanged, map, merge, skip, type Observable } from 'rxjs';
import type { RouteTable } from '../../reconcile/index.ts';

const TOGETHER_MS = 50;

/** Emits after changes of the table's content, and after what owners announce themselves. */
export function toolChanges(tables: Observable<RouteTable>, announced: Observable<unknown>): Observable<void> {
  const seen = tables.pipe(map(contentOf), distinctUntilChanged(), skip(1));
  return merge(seen, announced).pipe(
    auditTime(TOGETHER_MS),
    map(() => undefined),
  );
}

/** The generation is part of it: another connection serves other tools under the same definitions (law L18). */
function contentOf(table: RouteTable): string {
  const lines = [...table].map(([key, { generation, tools }]) => JSON.stringify([key, generation, tools.digest]));
  return lines.sort().join('\n');
}
