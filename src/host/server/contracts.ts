/**
 * The contract that a call is made by: the tool's definition as its owner serves it *now*. An owner over a live session that promises
 * to announce changes and has announced none since it was read is current; every other is read again (DESIGN 6).
 */
import { fail, type Outcome, type RequestOptions, type Tool } from '../../protocol/index.ts';
import type { Handle } from '../routes/handles.ts';
import { pagesOf, readAll } from '../routes/wholeList.ts';
import type { Naming } from './names.ts';

type Options = RequestOptions & { readonly signal: AbortSignal };

interface Known {
  readonly changes: number;
  readonly byName: ReadonlyMap<string, Tool>;
}

export class Contracts {
  readonly #naming: Naming;
  /** By handle, so that it is gone with it: another generation starts with nothing. */
  readonly #known = new WeakMap<Handle, Known>();

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  /** The tool behind an agent's name without a read, where what was read last is still current. */
  known(handle: Handle, name: string): Outcome<Tool> | undefined {
    const held = this.#known.get(handle);
    return held !== undefined && held.changes === handle.owner.changes() ? found(held.byName.get(name)) : undefined;
  }

  /** The tool behind an agent's name, or why there is none. */
  async of(handle: Handle, name: string, options: Options): Promise<Outcome<Tool>> {
    // Before the read: a change that is announced while it runs makes it old.
    const changes = handle.owner.changes();
    if (changes === undefined) return this.#search(handle, name, options);
    const list = await readAll(handle, options);
    if (!list.ok) return list;
    const byName = new Map(list.value.map((tool) => [this.#nameOf(handle, tool), tool]));
    this.#known.set(handle, { changes, byName });
    return found(byName.get(name));
  }

  async #search(handle: Handle, name: string, options: Options): Promise<Outcome<Tool>> {
    for await (const page of pagesOf(handle, options)) {
      if (!page.ok) return page;
      const tool = page.value.tools.find((one) => this.#nameOf(handle, one) === name);
      if (tool !== undefined) return found(tool);
    }
    return found(undefined);
  }

  #nameOf(handle: Handle, tool: Tool): string {
    return this.#naming.of(handle.name.connector, tool.name);
  }
}

function found(tool: Tool | undefined): Outcome<Tool> {
  if (tool !== undefined) return { ok: true, value: tool };
  return fail('error', 'the connector does not list this tool', { code: -32602 });
}
