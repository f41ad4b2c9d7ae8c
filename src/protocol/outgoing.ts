/**
 * One request as one value, from which its headers and its body are both made, so that they cannot disagree.
 * Source: seed 1 "MCP request metadata", facts 1.2.
 */
import { type Json, rawObject } from './json.ts';
import { encodeRequest, type Id } from './jsonrpc.ts';
import { limits } from './limits.ts';
import { envelopeText, type Implementation, methods, modernVersion, type ProgressToken, selfText } from './mcp.ts';
import { encodeParameters, type ParameterBinding } from './parameters.ts';
import { headerNames } from './headers.ts';
import { encodeHeaderValue } from './sentinel.ts';

/** What a request is about. The bindings of the tool's contract come with the call: nothing is looked up. */
export type Intent =
  | { readonly method: typeof methods.discover }
  | { readonly method: typeof methods.list; readonly cursor: string | undefined }
  | {
      readonly method: typeof methods.call;
      readonly name: string;
      readonly bindings: readonly ParameterBinding[];
      /** The arguments as they came: the text is what is sent, the value only what headers are made of. */
      readonly args: Json | undefined;
    };

/** Who sends: what is the same in all of its requests, made once. */
export interface Sender {
  readonly headers: Readonly<Record<string, string>>;
  readonly self: string;
}

export interface Outgoing {
  readonly id: Id;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Attachments {
  readonly progressToken?: ProgressToken | undefined;
  /** The `_meta` of whoever asked us, as text; reserved keys of it are not carried on. */
  readonly carriedText?: string | undefined;
}

const standing = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'Accept-Encoding': 'identity',
  [headerNames.protocolVersion]: modernVersion,
} as const;

/** `connectorVersion`: the installed release, in header and `_meta`; null for a server that pins none. */
export function senderOf(clientInfo: Implementation, connectorVersion: string | null): Sender {
  const pinned = connectorVersion === null ? {} : { [headerNames.connectorVersion]: connectorVersion };
  return { headers: { ...standing, ...pinned }, self: selfText(clientInfo, connectorVersion) };
}

/** The request to send, or why it cannot be one, as text for -32602. */
export function compose(sender: Sender, id: Id, intent: Intent, attached: Attachments = {}): Outgoing | string {
  const named = namedHeaders(intent);
  if (typeof named === 'string') return named;
  const params = paramsText(intent, envelopeText(sender.self, attached));
  const body = encodeRequest(id, intent.method, params);
  if (Buffer.byteLength(body) > limits.requestBytes) return `the request is larger than ${limits.requestBytes} bytes`;
  return { id, method: intent.method, headers: headersOf(sender, intent, named), body };
}

/** Member by member: objects joined by spreading were a tenth of what a call costs here. */
function headersOf(sender: Sender, { method }: Intent, named: ReadonlyMap<string, string>) {
  const headers: Record<string, string> = { ...sender.headers, [headerNames.method]: method };
  // Names of ours, or with a prefix of ours: none of them is one that an object inherits.
  for (const [name, value] of named) headers[name] = value;
  return headers;
}

const none: ReadonlyMap<string, string> = new Map();

function namedHeaders(intent: Intent): ReadonlyMap<string, string> | string {
  if (intent.method !== methods.call) return none;
  const name = encodeHeaderValue(intent.name);
  if (name === undefined) return 'the name of the tool cannot be sent as a header';
  const parameters = encodeParameters(intent.bindings, intent.args?.value);
  if (!parameters.ok) return parameters.reason;
  const all = new Map([[headerNames.name as string, name], ...parameters.headers]);
  return sizeOf(all) > limits.headerBytes / 2 ? 'the arguments that are sent as headers are too large' : all;
}

function sizeOf(headers: ReadonlyMap<string, string>): number {
  let size = 0;
  for (const [name, value] of headers) size += name.length + value.length + 4;
  return size;
}

function paramsText(intent: Intent, meta: string): string {
  if (intent.method === methods.call)
    return rawObject([
      ['name', JSON.stringify(intent.name)],
      ['arguments', intent.args?.text],
      ['_meta', meta],
    ]);
  const cursor =
    intent.method === methods.list && intent.cursor !== undefined ? JSON.stringify(intent.cursor) : undefined;
  return rawObject([
    ['cursor', cursor],
    ['_meta', meta],
  ]);
}
