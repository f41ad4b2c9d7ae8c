/**
 * The three methods of door 1, each from a checked request to the text of its result. One question to the authority a method.
 */
import type { ListToolsAnswer, ListToolsRequest } from '../protocol/authority.ts';
import { McpError } from '../protocol/errors.ts';
import { limits } from '../protocol/limits.ts';
import { methods } from '../protocol/mcp.ts';
import { discoverResultText, listResultText } from '../protocol/results.ts';
import type { ToolPage } from '../protocol/results.ts';
import { readListParams } from '../protocol/server.ts';
import { call } from './call.ts';
import type { Door } from './door.ts';
import { asking, forward, orThrow, permission } from './forwarding.ts';
import type { Inbound } from './inbound.ts';
import { refusalError } from './refusals.ts';
import { outsideProtocol } from './upstream/failure.ts';

/** Answers the text of the result. Throws `McpError`. */
export function perform(door: Door, inbound: Inbound): Promise<string> {
  const { method } = inbound.request;
  if (method === methods.list) return list(door, inbound);
  return method === methods.call ? call(door, inbound) : discover(door, inbound);
}

/** Binding and connection are asked for, the upstream is not contacted. Seed 1, tool life cycle 4. */
async function discover(door: Door, inbound: Inbound): Promise<string> {
  granted(await door.authority.listTools(question(inbound, true), asking(door, inbound)));
  return discoverResultText({ serverInfo: door.serverInfo });
}

async function list(door: Door, inbound: Inbound): Promise<string> {
  const { cursor } = orThrow(readListParams(inbound.request));
  const answer = granted(await door.authority.listTools(question(inbound, false), asking(door, inbound)));
  if (answer.upstream === null || answer.callId === null) throw new McpError(-33003);
  const { upstream, callId, principal } = answer;
  door.contracts.given(inbound.identity, upstream.contractScope);
  return forward(door, permission(inbound, { callId, principal, upstream }), async (adapter, way) => {
    const page = bounded(await adapter.list(way, cursor));
    door.contracts.served(upstream.contractScope, page.tools, cursor === undefined && page.nextCursor === undefined);
    for (const { name, reason } of page.excluded)
      door.log('warn', 'a tool was left out', { connector: inbound.connectorId, tool: name, reason });
    const texts = page.tools.map((tool) => tool.text);
    return { value: way.redact(listResultText(texts, page.nextCursor, door.serverInfo)), outcome: 'succeeded' };
  });
}

function bounded(page: ToolPage): ToolPage {
  if (page.tools.length + page.excluded.length > limits.tools)
    throw outsideProtocol(`it lists more than ${limits.tools} tools`, 'tools');
  return page;
}

type Authorized<A> = Extract<A, { readonly outcome: 'authorized' }>;

function granted(answer: ListToolsAnswer): Authorized<ListToolsAnswer> {
  if (answer.outcome === 'authorized') return answer;
  throw refusalError(answer);
}

function question(inbound: Inbound, probe: boolean): ListToolsRequest {
  const { token, connectorId, connectorVersion, traceId } = inbound;
  return { token, connectorId, connectorVersion, probe, traceId };
}
