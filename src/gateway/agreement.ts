/**
 * Whether a call's `Mcp-Param-*` headers say what its arguments say, by the contract last served; read again where that is missing
 * or does not fit, because the tool may have changed. DESIGN 7, MCP 2026-07-28 facts 1.4.
 */
import { McpError } from '../protocol/errors.ts';
import { limits } from '../protocol/limits.ts';
import { checkParameters } from '../protocol/parameters.ts';
import type { ServedTool } from './contracts.ts';
import type { Door } from './door.ts';
import type { Inbound } from './inbound.ts';
import type { Asked } from './call.ts';
import type { Adapter, Way } from './upstream/adapter.ts';
import { outsideProtocol, UpstreamFailure } from './upstream/failure.ts';

/** Where a contract is read from and kept. */
export interface Source {
  readonly adapter: Adapter;
  readonly way: Way;
  readonly scope: string;
}

/** The tool as both sides know it. Throws `UpstreamFailure`: -32602 for a tool that is not listed, -32020 for a disagreement. */
export async function agree(door: Door, inbound: Inbound, asked: Asked, source: Source): Promise<ServedTool> {
  const known = door.contracts.find(source.scope, asked.name);
  const problem = disagreement(known, inbound, asked);
  if (known !== undefined && problem === undefined) return known;
  if (!door.contracts.isFresh(source.scope)) await reread(door, source, asked.name);
  const current = door.contracts.find(source.scope, asked.name);
  const left = disagreement(current, inbound, asked);
  if (current === undefined)
    throw notSent(new McpError(-32602, { message: 'the connector lists no tool of this name', httpStatus: 200 }));
  if (left !== undefined) throw notSent(new McpError(-32020, { message: left }));
  return current;
}

function disagreement(tool: ServedTool | undefined, inbound: Inbound, asked: Asked): string | undefined {
  return tool === undefined ? undefined : checkParameters(tool.bindings, asked.args?.value, inbound.headers);
}

/** A call that ends before the upstream is asked to run anything. */
export function notSent(answer: McpError): UpstreamFailure {
  return new UpstreamFailure(answer, 'not_sent', String(answer.code));
}

/** Reads pages until the tool is found or there are no more. */
export async function reread(door: Door, { adapter, way, scope }: Source, tool: string): Promise<void> {
  let cursor: string | undefined;
  const seen = new Set<string>();
  for (let page = 1; page <= limits.pages; page++) {
    const { tools, nextCursor } = await adapter.list(way, cursor);
    door.contracts.served(scope, tools, page === 1 && nextCursor === undefined);
    if (nextCursor === undefined || tools.some(({ name }) => name === tool)) return;
    if (seen.has(nextCursor)) throw outsideProtocol('its list repeats a cursor', 'cursor');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw outsideProtocol(`its list has more than ${limits.pages} pages`, 'pages');
}
