/**
 * The headers of one MCP POST, and whether they say what the body says.
 *
 * Proxies route by headers and servers act on bodies: where the two may differ, one of them is deceived. So a client makes both
 * from one value (client.ts), and a server refuses any difference with -32020. Sources: MCP 2026-07-28 transports, seed 1 "MCP
 * request metadata", facts 1.2 and 1.3.
 */
import { type HeaderFields, headerField } from './fields.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { metaKeys, namedBy } from './mcp.ts';
import { decodeHeaderValue } from './sentinel.ts';

export * from './fields.ts';
export * from './sentinel.ts';
export * from './parameters.ts';

/** Names as they are sent; receivers compare names without case and values with it. */
export const headerNames = {
  protocolVersion: 'MCP-Protocol-Version',
  method: 'Mcp-Method',
  name: 'Mcp-Name',
  connectorVersion: 'Tutti-Connector-Version',
  retryAfter: 'Retry-After',
} as const;

/** What the body of a request says, for comparison with its headers. */
export interface Claim {
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Undefined when the standard headers of a request are there and agree with its body; else what is wrong, as text for -32020.
 * The order is the specification's: version, method, name, then the connector's version where the endpoint pins one.
 */
export function checkHeaders(
  headers: HeaderFields,
  claim: Claim,
  options: { readonly connector: boolean },
): string | undefined {
  const meta = member(claim.params, '_meta');
  const said = isObject(meta) ? meta : {};
  const name = namedBy(claim.method, claim.params);
  return (
    compare(headers, headerNames.protocolVersion, member(said, metaKeys.protocolVersion)) ??
    compare(headers, headerNames.method, claim.method) ??
    (name === undefined ? undefined : compareEncoded(headers, headerNames.name, name)) ??
    (options.connector
      ? compare(headers, headerNames.connectorVersion, member(said, metaKeys.connectorVersion))
      : undefined)
  );
}

function compare(headers: HeaderFields, name: string, said: unknown): string | undefined {
  const sent = headerField(headers, name);
  if (sent === undefined || sent === '') return `header ${name} is missing`;
  return sent === said ? undefined : `header ${name} differs from the body`;
}

/** An empty name may come as an empty header or as an empty sentinel: the specification does not say which. */
function compareEncoded(headers: HeaderFields, name: string, said: string): string | undefined {
  const sent = headerField(headers, name);
  if (sent === undefined) return `header ${name} is missing`;
  const decoded = decodeHeaderValue(sent);
  if (decoded === undefined) return `header ${name} is not validly encoded`;
  return decoded === said ? undefined : `header ${name} differs from the body`;
}
