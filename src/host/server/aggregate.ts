/**
 * One server in front of many: the list of all that is published, read through to each owner now, and a call to the one owner that a
 * name can belong to. One slow or broken connector delays or hides no other (law L19); a call never goes to another owner because
 * the rightful one failed. What an owner says of its authorization is told to the core with the route as it was when the request
 * began (law L6).
 */
import {
  failureError,
  fail,
  limits,
  McpError,
  rejectionOf,
  spliceMembers,
  type CallParams,
  type CallResult,
  type ExcludedTool,
  type Failure,
  type Outcome,
  type RejectionCode,
  type Tool,
  type ToolPage,
} from '../../protocol/index.ts';
import type { PublishedRoute, RouteTable } from '../../reconcile/index.ts';
import { DeadlineError, within } from '../deadline.ts';
import type { Handle, Handles } from '../routes/handles.ts';
import { Contracts } from './contracts.ts';
import { routeSet, type Cursors, type Part } from './cursor.ts';
import type { Naming } from './names.ts';
import { republished } from './republish.ts';

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

/** A part of the list that is not there, and why. */
export interface Missing {
  readonly connector: string;
  readonly code: number;
  readonly reason: string;
}

export interface AggregateList {
  readonly tools: readonly string[];
  readonly nextCursor: string | undefined;
  readonly missing: readonly Missing[];
  readonly excluded: readonly { readonly connector: string; readonly tool: string | null; readonly reason: string }[];
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** JSON text of the agent's token and what takes the params text of a notification; undefined when it asked for none. */
  readonly progress: { readonly tokenText: string; readonly onProgress: (paramsText: string) => void } | undefined;
}

interface Asked {
  readonly key: string;
  readonly route: PublishedRoute;
  readonly part: Part;
  readonly page: Outcome<ToolPage>;
}

export class Aggregate {
  readonly #options: AggregateOptions;
  readonly #contracts: Contracts;

  constructor(options: AggregateOptions) {
    this.#options = options;
    this.#contracts = new Contracts(options.naming);
  }

  /** One page of everything. Throws an McpError for a cursor that is not ours or whose routes are no longer these. */
  async list(cursor: string | undefined, signal: AbortSignal): Promise<AggregateList> {
    const routes = new Map([...this.#options.table()].sort(([, a], [, b]) => (a.connector < b.connector ? -1 : 1)));
    const set = routeSet([...routes].map(([key, { generation, epoch }]) => ({ key, generation, epoch })));
    const parts = cursor === undefined ? undefined : this.#options.cursors.read(cursor, set);
    if (cursor !== undefined && parts === undefined) {
      throw new McpError(-32602, { message: 'the list has changed: begin again without a cursor', httpStatus: 200 });
    }
    const asked = await Promise.all(
      [...routes].flatMap(([key, route]) => {
        const part = parts?.find((one) => one.route === key);
        return parts !== undefined && part === undefined ? [] : [this.#page(key, route, part, signal)];
      }),
    );
    return this.#joined(asked, set);
  }

  async #page(key: string, route: PublishedRoute, part: Part | undefined, signal: AbortSignal): Promise<Asked> {
    const handle = this.#options.handles.find(route);
    const page =
      handle === undefined ? fail('unavailable', 'its client is gone') : await this.#read(handle, part?.cursor, signal);
    if (!page.ok) this.#refused(route, page.failure);
    return { key, route, page, part: part ?? { route: key, cursor: '', page: 0 } };
  }

  async #read(handle: Handle, cursor: string | undefined, signal: AbortSignal): Promise<Outcome<ToolPage>> {
    const { listDeadlineMs } = this.#options;
    try {
      return await within(listDeadlineMs, signal, (inner) => handle.listPage(cursor, { signal: inner }));
    } catch (error) {
      if (error instanceof DeadlineError) return fail('timeout', `no list within ${listDeadlineMs} ms`);
      throw error;
    }
  }

  #joined(asked: readonly Asked[], set: string): AggregateList {
    const { naming, cursors } = this.#options;
    const next: Part[] = [];
    const tools: string[] = [];
    const missing: Missing[] = [];
    const excluded: (ExcludedTool & { readonly connector: string })[] = [];
    for (const {
      key,
      route: { connector },
      part,
      page,
    } of asked) {
      // prettier-ignore
      if (!page.ok) {
        missing.push({ connector, code: failureError(page.failure).code, reason: page.failure.message });
        continue;
      }
      for (const tool of page.value.tools) tools.push(republished(tool, naming.of(connector, tool.name)));
      for (const one of page.value.excluded) excluded.push({ ...one, connector });
      const { nextCursor } = page.value;
      if (nextCursor === undefined) continue;
      if (part.page + 1 < limits.pages) next.push({ route: key, cursor: nextCursor, page: part.page + 1 });
      else missing.push({ connector, code: -33006, reason: `more than ${limits.pages} pages` });
    }
    const nextCursor = next.length === 0 ? undefined : cursors.write(set, next);
    return {
      tools,
      nextCursor,
      missing,
      excluded: excluded.map(({ connector, name, reason }) => ({ connector, tool: name, reason })),
    };
  }

  /** Calls a tool by its agent's name. Throws an McpError: the owner's own, or why there is no answer. */
  async call({ name, args, metaText }: CallParams, options: CallOptions): Promise<CallResult> {
    const { route, handle } = this.#owner(name);
    const tool = await this.#contract(handle, name, options.signal);
    if (!tool.ok) throw this.#error(route, tool.failure);
    // Between the read and the call the route may have been withdrawn; there is no await from here to the call.
    if (this.#owner(name).handle !== handle) throw this.#error(route, gone(route.connector));
    const onProgress = progressOf(options);
    const call = { name: tool.value.name, bindings: tool.value.bindings, args, onProgress };
    const outcome = await handle.callTool(call, { signal: options.signal, metaText });
    if (!outcome.ok) throw this.#error(route, outcome.failure);
    return outcome.value;
  }

  /** The one published route that a name can belong to. */
  #owner(name: string): { readonly route: PublishedRoute; readonly handle: Handle } {
    const { table, naming, handles, withheld } = this.#options;
    const routes = [...table().values()].filter(({ connector }) => naming.owns(connector, name));
    const [route] = routes;
    const handle = route === undefined ? undefined : handles.find(route);
    if (route !== undefined && handle !== undefined && routes.length === 1) return { route, handle };
    const reason = withheld((connector) => naming.owns(connector, name));
    throw reason ?? new McpError(-32602, { message: 'no connector has a tool of this name', httpStatus: 200 });
  }

  /** A call waits longer for its contract than a list for one part of many: nobody else waits with it. */
  async #contract(handle: Handle, name: string, signal: AbortSignal): Promise<Outcome<Tool>> {
    const ms = Math.max(this.#options.listDeadlineMs, limits.firstByteMs);
    try {
      return await within(ms, signal, (inner) => this.#contracts.of(handle, name, { signal: inner }));
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      return fail('timeout', `the connector did not list its tools within ${ms} ms; nothing was called`);
    }
  }

  #error(route: PublishedRoute, why: Failure): McpError {
    this.#refused(route, why);
    const { code, message, data, dataText, retryAfterMs } = failureError(why);
    const rest = {
      ...(dataText === undefined ? { data } : { dataText }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
    // In-band: an HTTP status of this hop would be read as a fault of the agent's own access (peers 11).
    return new McpError(code, { message, httpStatus: 200, ...rest });
  }

  #refused(route: PublishedRoute, why: Failure): void {
    const code = rejectionOf(why);
    if (code !== undefined) this.#options.onRejected(route, code);
  }
}

function gone(connector: string): Failure {
  return fail('unavailable', `${connector} was withdrawn before the call was made; nothing was called`).failure;
}

/** The owner's progress under the agent's own token. */
function progressOf({ progress }: CallOptions) {
  if (progress === undefined) return undefined;
  const { tokenText, onProgress } = progress;
  return (_: unknown, paramsText: string): void =>
    onProgress(spliceMembers(paramsText, new Map([['progressToken', tokenText]])));
}
