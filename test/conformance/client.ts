/**
 * Our modern client as the suite drives it: one process a scenario, the server's URL as the last argument, what to call in the
 * environment. It discovers, lists and calls every tool that the client left in the list; the suite judges what it hears.
 */
import { Agent } from 'undici';
import { createModernClient, parseJson, rawAt, type Json, type Tool } from '../../src/protocol/index.ts';
import { postOver } from '../support/protocol/peer.ts';
import { valueOf } from '../support/protocol/client.ts';
import { sampleArguments } from './sample.ts';

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: unknown }[];
}

const agent = new Agent();
const client = createModernClient({
  post: postOver(agent),
  url: process.argv.at(-1) ?? '',
  clientInfo: { name: 'dacapo', version: '0.1.0' },
  connectorVersion: null,
  now: Date.now,
});
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;

// A server that cannot say what it is may still list: some scenarios have no discover.
await client.discover();
const { tools } = valueOf(await client.listAll());
for (const { tool, args } of calls(tools)) await client.callTool({ name: tool.name, bindings: tool.bindings, args });
await agent.close();

function calls(listed: readonly Tool[]): readonly { readonly tool: Tool; readonly args: Json }[] {
  const asked = context.toolCalls ?? listed.map((tool) => ({ name: tool.name, arguments: sample(tool, listed) }));
  return asked.flatMap(({ name, arguments: args }) => {
    const tool = listed.find((one) => one.name === name);
    return tool === undefined ? [] : [{ tool, args: typeof args === 'string' ? parseJson(args) : jsonOf(args ?? {}) }];
  });
}

function jsonOf(value: unknown): Json {
  return parseJson(JSON.stringify(value));
}

/** Arguments that fit a schema of flat properties; the echo tool is given the other's schema as the text it came as. */
function sample({ name, text }: Tool, listed: readonly Tool[]): unknown {
  if (name === 'json_schema_echo') return `{"schema":${schemaOf('json_schema_2020_12_tool', listed)}}`;
  return sampleArguments(JSON.parse(rawAt(text, ['inputSchema', 'properties']) ?? '{}') as object);
}

function schemaOf(name: string, listed: readonly Tool[]): string {
  return rawAt(listed.find((tool) => tool.name === name)?.text ?? '{}', ['inputSchema']) ?? '{}';
}
