/** All pages of an owner's list, bounded: a cursor that comes again or a list without end is a fault (C34). */
import { fail, limits, type Outcome, type RequestOptions, type Tool, type ToolPage } from '../../protocol/index.ts';

export interface Pageable {
  listPage(
    cursor: string | undefined,
    options: RequestOptions & { readonly signal: AbortSignal },
  ): Promise<Outcome<ToolPage>>;
}

type Options = RequestOptions & { readonly signal: AbortSignal };

/** Pages in order, until the end, a failure or a bound. */
export async function* pagesOf(owner: Pageable, options: Options): AsyncGenerator<Outcome<ToolPage>, void, undefined> {
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let number = 1; number <= limits.pages; number++) {
    const page = await owner.listPage(cursor, options);
    yield page;
    if (!page.ok || page.value.nextCursor === undefined) return;
    cursor = page.value.nextCursor;
    if (cursors.has(cursor)) return void (yield fail('protocol', 'the list repeats a cursor'));
    cursors.add(cursor);
  }
  yield fail('protocol', `the list has more than ${limits.pages} pages`);
}

/** The tools of all pages; of a name that comes twice the first. */
export async function readAll(owner: Pageable, options: Options): Promise<Outcome<readonly Tool[]>> {
  const tools = new Map<string, Tool>();
  for await (const page of pagesOf(owner, options)) {
    if (!page.ok) return page;
    for (const tool of page.value.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    if (tools.size > limits.tools) return fail('protocol', `more than ${limits.tools} tools`);
  }
  return { ok: true, value: [...tools.values()] };
}
