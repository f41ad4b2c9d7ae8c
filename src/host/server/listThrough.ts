/** `tools/list` of everything: each published owner is asked for its own page at once, each under a deadline of its own. */
import { fail, failureError, limits, McpError, type Outcome, type ToolPage } from '../../protocol/index.ts';
import type { PublishedRoute } from '../../reconcile/index.ts';
import { DeadlineError, within } from '../deadline.ts';
import type { Handle } from '../routes/handles.ts';
import { isShown, tellRejection, type AggregateOptions } from './shown.ts';
import { routeSet, type Part } from './cursor.ts';
import { republished } from './republish.ts';

/** A part of the list that is not there, and why. */
export interface Missing {
  readonly connector: string;
  readonly code: number;
  readonly reason: string;
}

/** A tool that its connector lists and that can't be used. */
export interface Excluded {
  readonly connector: string;
  readonly tool: string | null;
  readonly reason: string;
}

export interface AggregateList {
  /** Definitions as text, under the names that agents see. */
  readonly tools: readonly string[];
  readonly nextCursor: string | undefined;
  readonly missing: readonly Missing[];
  readonly excluded: readonly Excluded[];
}

interface Asked {
  readonly route: PublishedRoute;
  readonly part: Part;
  readonly handle: Handle | undefined;
  readonly page: Outcome<ToolPage>;
}

export async function listThrough(
  options: AggregateOptions,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<AggregateList> {
  const routes = [...options.table()].sort(([, a], [, b]) => (a.connector < b.connector ? -1 : 1));
  const set = routeSet(routes.map(([key, { generation, epoch }]) => ({ key, generation, epoch })));
  const parts = cursor === undefined ? firstParts(routes) : options.cursors.read(cursor, set);
  if (parts === undefined) {
    throw new McpError(-32602, { message: 'the list has changed: begin again without a cursor', httpStatus: 200 });
  }
  const byKey = new Map(parts.map((part) => [part.route, part]));
  const asked = routes.flatMap(([key, route]) => {
    const part = byKey.get(key);
    return part === undefined ? [] : [ask(options, route, part, signal)];
  });
  return joined(options, await Promise.all(asked), set);
}

function firstParts(routes: readonly (readonly [string, PublishedRoute])[]): readonly Part[] {
  return routes.map(([route]) => ({ route, cursor: null, page: 0 }));
}

async function ask(options: AggregateOptions, route: PublishedRoute, part: Part, signal: AbortSignal): Promise<Asked> {
  const handle = options.handles.find(route);
  const page =
    handle === undefined ? fail('unavailable', 'its client is gone') : await read(options, handle, part, signal);
  if (!page.ok) tellRejection(options, route, page.failure);
  return { route, part, handle, page };
}

async function read(
  { listDeadlineMs }: AggregateOptions,
  handle: Handle,
  part: Part,
  signal: AbortSignal,
): Promise<Outcome<ToolPage>> {
  try {
    return await within(listDeadlineMs, signal, (inner) =>
      handle.listPage(part.cursor ?? undefined, { signal: inner }),
    );
  } catch (error) {
    if (error instanceof DeadlineError) return fail('timeout', `no list within ${listDeadlineMs} ms`);
    throw error;
  }
}

/** Synchronous from the last look at the table to the answer: what was withdrawn while others were asked is not in it. */
function joined(options: AggregateOptions, asked: readonly Asked[], set: string): AggregateList {
  const shown = asked.map((one) => {
    const still = one.handle !== undefined && isShown(options, one.route, one.handle);
    return still || !one.page.ok ? one : { ...one, page: fail('unavailable', 'it was withdrawn while it was asked') };
  });
  const next = shown.flatMap(nextPart);
  return {
    tools: shown.flatMap((one) => toolsOf(options, one)),
    nextCursor: next.length === 0 ? undefined : options.cursors.write(set, next),
    missing: shown.flatMap(missingOf),
    excluded: shown.flatMap(excludedOf),
  };
}

function toolsOf({ naming }: AggregateOptions, { route: { connector }, page }: Asked): readonly string[] {
  return page.ok ? page.value.tools.map((tool) => republished(tool, naming.of(connector, tool.name))) : [];
}

function nextPart({ part, page }: Asked): readonly Part[] {
  const cursor = page.ok ? page.value.nextCursor : undefined;
  if (cursor === undefined || part.page + 1 >= limits.pages) return [];
  return [{ route: part.route, cursor, page: part.page + 1 }];
}

function missingOf({ route: { connector }, part, page }: Asked): readonly Missing[] {
  if (!page.ok) return [{ connector, code: failureError(page.failure).code, reason: page.failure.message }];
  const endless = page.value.nextCursor !== undefined && part.page + 1 >= limits.pages;
  return endless ? [{ connector, code: -33006, reason: `its list has more than ${limits.pages} pages` }] : [];
}

function excludedOf({ route: { connector }, page }: Asked): readonly Excluded[] {
  return page.ok ? page.value.excluded.map(({ name, reason }) => ({ connector, tool: name, reason })) : [];
}
