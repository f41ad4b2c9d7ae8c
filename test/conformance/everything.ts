/**
 * The tools that the suite expects of a server, on the official SDK 2.4.0: behind the gateway as a modern upstream, and behind the
 * local server as processes. Names and answers are the suite's; nothing of ours is in here.
 */
import {
  fromJsonSchema,
  McpServer,
  inputRequired,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** One pixel, and no sound at all. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

type Result = CallToolResult | InputRequiredResult;
type Run = (args: unknown, context: ServerContext, server: McpServer) => Result | Promise<Result>;

interface Fixture {
  readonly name: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly run: Run;
}

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;

/** The suite's own schema for the keywords of 2020-12 (its description prints it). */
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const headed = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
  },
};

const fixtures: readonly Fixture[] = [
  { name: 'test_simple_text', run: () => said('This is a simple text response for testing.') },
  { name: 'test_image_content', run: () => ({ content: [image] }) },
  {
    name: 'test_audio_content',
    run: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  { name: 'test_embedded_resource', run: () => ({ content: [resource('test://embedded-resource', 'text/plain')] }) },
  {
    name: 'test_multiple_content_types',
    run: () => ({
      content: [
        ...said('Multiple content types test:').content,
        image,
        resource('test://mixed-content-resource', 'application/json'),
      ],
    }),
  },
  {
    name: 'test_error_handling',
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  { name: 'test_tool_with_progress', run: progress },
  // What follows is asked for by `server-stateless`: a stream, a tool that would log, a change of the list.
  { name: 'test_streaming_elicitation', run: () => said('nobody was asked') },
  { name: 'test_logging_tool', run: () => said('nothing was logged') },
  {
    name: 'test_trigger_tool_change',
    run: (_args, _context, server) => (server.sendToolListChanged(), said('the list has changed')),
  },
  { name: 'test_missing_capability', run: needsSampling },
  { name: 'json_schema_2020_12_tool', schema: schema2020, run: (args) => said(JSON.stringify(args)) },
  { name: 'test_x_mcp_header', schema: headed, run: (args) => said(JSON.stringify(args)) },
];

/** A server with the tools whose names begin with a prefix, which it takes off: the namespace puts it back. */
export function everything(prefix: string, listChanged: boolean): McpServer {
  const server = new McpServer({ name: 'everything', version: '2.4.0' }, { capabilities: { tools: { listChanged } } });
  for (const { name, schema, run } of fixtures.filter((one) => one.name.startsWith(prefix))) {
    const inputSchema = fromJsonSchema(schema ?? { type: 'object', properties: {} });
    server.registerTool(name.slice(prefix.length), { description: name, inputSchema }, (args, context) =>
      run(args, context, server),
    );
  }
  return server;
}

function resource(uri: string, mimeType: string): CallToolResult['content'][number] {
  return { type: 'resource', resource: { uri, mimeType, text: '{"test":"data","value":123}' } };
}

/** The SDK answers -32021 for a caller that has not declared sampling. */
function needsSampling(): InputRequiredResult {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'hello' } }];
  return inputRequired({ inputRequests: { one: inputRequired.createMessage({ messages, maxTokens: 8 }) } });
}

const PROGRESS = [0, 50, 100];

async function progress(_args: unknown, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (const step of PROGRESS) {
    if (progressToken !== undefined)
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: step, total: 100 } });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return said('done');
}
