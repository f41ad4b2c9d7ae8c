/** The official client 2.4.0, driven by the suite as `client.ts` drives ours: for the figures beside our own. */
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { sampleArguments } from './sample.ts';

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: Record<string, unknown> }[];
}

const client = new Client({ name: 'official', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv.at(-1) ?? '')));
const { tools } = await client.listTools();
const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
for (const { name, arguments: args } of toolCalls ?? tools.map(asked))
  await client.callTool({ name, arguments: args ?? {} }).catch(() => undefined);
await client.close();

function asked({ name, inputSchema }: Tool): { readonly name: string; readonly arguments: Record<string, unknown> } {
  const schema = tools.find((tool) => tool.name === 'json_schema_2020_12_tool')?.inputSchema;
  return { name, arguments: name === 'json_schema_echo' ? { schema } : sampleArguments(inputSchema.properties ?? {}) };
}
