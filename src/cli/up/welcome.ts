/** What `up` says to a person: where to point an agent, what is shown and why not, and what to try. */
import { styled } from '../output.ts';
import { statusText, type Standing } from '../statusText.ts';

export interface Welcome {
  readonly mcpUrl: string;
  readonly tokenFile: string;
  readonly state: string;
  /** Whether commands need `--state` to find this daemon. */
  readonly named: boolean;
  readonly status: Standing;
}

export function welcome({ mcpUrl, tokenFile, state, named, status }: Welcome): string {
  const command = (words: string): string => `  npx dacapo ${words}${named ? ` --state ${quoted(state)}` : ''}`;
  const heading = (text: string): string => styled('bold', text);
  return [
    heading('Dacapo is up.'),
    statusText(status),
    heading('Point an agent at it. The token is read from the environment, and stays out of its configuration:'),
    `  export DACAPO_MCP_TOKEN="$(cat ${quoted(tokenFile)})"`,
    `${heading('Claude Code')}\n  claude mcp add --transport http connector ${mcpUrl} --header 'Authorization: Bearer \${DACAPO_MCP_TOKEN}'`,
    `${heading('Codex')}, in ~/.codex/config.toml\n  [mcp_servers.connector]\n  url = "${mcpUrl}"\n  bearer_token_env_var = "DACAPO_MCP_TOKEN"`,
    heading('Try it, in a second terminal:'),
    [
      `  echo demo-secret | npx dacapo connect everything --secret-stdin${named ? ` --state ${quoted(state)}` : ''}`,
      command('status'),
      command('demo key reject'),
      command('why everything'),
    ].join('\n'),
    'Ctrl-C stops everything.',
  ].join('\n\n');
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
