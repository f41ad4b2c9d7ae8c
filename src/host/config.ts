/**
 * What a daemon is started with. The command line merges flags, environment and file into this and nothing else; everything that
 * has a default has it here. Secrets stand in files that are named here, never in the configuration itself.
 */
import { isAbsolute } from 'node:path';
import { z } from 'zod';

const text = z.string().min(1).max(4096);
/** Facts: tutti-client 1.9. The key is part of an URL and of a tool's name, hence this narrow. */
export const connectorKey = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/, 'a connector is named by a-z, 0-9 and . _ - within');

/** Whether a connector of this name can be installed here; of any other name nothing that is heard concerns this machine. */
export const canBeInstalled = (name: string): boolean => connectorKey.safeParse(name).success;

/** As long as the log keeps it; what goes out in a header has no spaces. */
const versionText = z.string().regex(/^[\x21-\x7e]{1,64}$/, 'a version is 1 to 64 characters without spaces');

/** https, or http on loopback only: a cookie goes there. No user, query or fragment. */
export const baseUrl = z
  .string()
  .refine(isBase, 'expected an https URL (http only for 127.0.0.1, ::1, localhost) without query');

function isBase(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const local = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  const plain =
    url.username === '' && url.password === '' && url.search === '' && url.hash === '' && !/[?#]/.test(value);
  return plain && (url.protocol === 'https:' || (url.protocol === 'http:' && local));
}

/** As {@link baseUrl}, for the channel of hints. */
const socketUrl = z
  .string()
  .refine(
    (value) => /^wss?:/.test(value) && isBase(value.replace(/^ws/, 'http')),
    'expected wss (ws only on loopback)',
  );

const local = z.strictObject({
  id: connectorKey,
  kind: z.literal('stdio'),
  /** A program by its absolute path, or an npm package whose command is run by this Node. */
  command: text.optional(),
  package: text.optional(),
  args: z.array(z.string().max(4096)).max(256).default([]),
  /** Beyond the allow-list; variables that decide how programs are loaded are refused. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: text.optional(),
  version: versionText.optional(),
  authorization: z.enum(['none', 'api_key', 'oauth2']).default('none'),
  enabled: z.boolean().default(true),
});

/** The signed contract of a connector's upstream, by reference: no endpoint, no host, no header. */
const binding = z.strictObject({
  bindingRef: z.string().regex(/^[a-z0-9]+([.-][a-z0-9]+)*$/),
  contractVersion: z.literal(1).default(1),
  bindingContractHash: z
    .string()
    .regex(/^sha256:[a-f0-9]{64}$/)
    .optional(),
});

const remote = z.strictObject({
  id: connectorKey,
  kind: z.literal('remote'),
  version: versionText,
  digest: text.max(128).optional(),
  authorization: z.enum(['none', 'api_key', 'oauth2']).default('api_key'),
  binding,
  minimumHostVersion: versionText.optional(),
  enabled: z.boolean().default(true),
});

export const connectorSchema = z.discriminatedUnion('kind', [local, remote]).superRefine((one, context) => {
  if (one.kind === 'stdio' && (one.command === undefined) === (one.package === undefined)) {
    context.addIssue({ code: 'custom', message: 'give either command or package' });
  }
  if (one.kind === 'stdio' && one.command !== undefined && !isAbsolute(one.command)) {
    context.addIssue({ code: 'custom', path: ['command'], message: relative(one.id, one.command) });
  }
});

/** A name would be looked up in the PATH of whoever started the daemon: another program on another day. */
function relative(id: string, command: string): string {
  return `the command of ${id}, ${JSON.stringify(command)}, is no absolute path: write the whole path, as \`command -v\` prints it`;
}
/** A connector as configured on this machine. */
export type ConnectorConfig = z.output<typeof connectorSchema>;
export type StdioConfig = Extract<ConnectorConfig, { kind: 'stdio' }>;
export type RemoteConfig = Extract<ConnectorConfig, { kind: 'remote' }>;

/** Of two with one name the later would take the place of the earlier, without a word. */
const connectors = z
  .array(connectorSchema)
  .max(500)
  .superRefine((all, context) => {
    for (const [index, { id }] of all.entries()) {
      const first = all.findIndex((one) => one.id === id);
      if (first === index) continue;
      const message = `${id} is there twice (first as connectors.${String(first)}): give one of them another id`;
      context.addIssue({ code: 'custom', path: [index, 'id'], message });
    }
  });

const port = z.number().int().min(0).max(65_535);

export const daemonConfigSchema = z.strictObject({
  /** Log, bindings of agents and the control socket live here; made with mode 0700. */
  stateDir: text,
  hostVersion: versionText,
  /** Base of the control plane: authorizations and snapshots. `null`: this machine has local connectors only. */
  controlUrl: baseUrl.nullable().default(null),
  /** Base of the MCP gateway. A connector can't change it. */
  mcpUrl: baseUrl.default('https://tutti.sh/api/desktop'),
  /** Channel of hints. `null`: changes are found by the poll. */
  hintsUrl: socketUrl.nullable().default(null),
  /** The login's file, with `{account}` in the path when there is one for each account. */
  sessionFile: text.nullable().default(null),
  deviceId: z.string().min(1).max(128).default('dacapo'),
  pollEveryMs: z.number().int().min(50).max(3_600_000).default(300_000),
  connectors: connectors.default([]),
  /** Port of the local MCP server on 127.0.0.1. 0: the one used last, or any. */
  port: port.default(0),
  /** Deadline of one connector within one `tools/list`. */
  listDeadlineMs: z.number().int().min(50).max(120_000).default(5_000),
});
export type DaemonConfig = z.output<typeof daemonConfigSchema>;
export type DaemonConfigInput = z.input<typeof daemonConfigSchema>;
