/**
 * Builders for tests of the gateway: a small authority that really decides (in this process, in memory), a scripted upstream on a
 * real socket, and raw requests whose headers and body may be made to disagree.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { request } from 'undici';

import { openGateway } from '../../src/gateway/index.ts';
import type { Gateway, GatewayOptions } from '../../src/gateway/index.ts';
import type {
  AuthorityPort,
  Injection,
  OutcomeReport,
  Principal,
  Refusal,
  Upstream,
} from '../../src/protocol/authority.ts';
import { plainServer } from './demo.ts';

export const ANN = 'ann-session-token-0001';
export const BOB = 'bob-session-token-0002';
export const CREDENTIAL = 'provider-key/Zz+9=';

interface Connection {
  readonly credential: string;
  readonly version: number;
  readonly state: 'connected' | 'reauth_required';
}

/** An authority whose whole state can be read and changed by a test. */
export interface SmallAuthority extends AuthorityPort {
  readonly sessions: Map<string, Principal>;
  readonly connections: Map<string, Connection>;
  /** By connector; its credential is that of the asking account's connection. */
  readonly bindings: Map<
    string,
    { readonly version: string; readonly upstream: Omit<Upstream, 'credential' | 'contractScope'> }
  >;
  readonly reports: OutcomeReport[];
  /** Questions in the order in which they came. */
  readonly asked: string[];
  /** Waits for a report of an outcome. */
  reported(outcome: OutcomeReport['outcome']): Promise<OutcomeReport>;
}

export function smallAuthority(): SmallAuthority {
  const sessions = new Map([ANN, BOB].map((token, index) => [token, principal(index + 1)]));
  const connections = new Map<string, Connection>();
  const bindings: SmallAuthority['bindings'] = new Map();
  const calls = new Map<string, string>();
  const reports: OutcomeReport[] = [];
  const asked: string[] = [];

  const decide = (
    token: string,
    connector: string,
    version: string,
  ): Refusal | { who: Principal; upstream: Upstream } => {
    const who = sessions.get(token);
    if (who === undefined) return { outcome: 'unauthenticated', message: 'sign in' };
    const binding = bindings.get(connector);
    if (binding === undefined)
      return { outcome: 'rejected', reason: 'unknown_connector', message: 'there is no such connector' };
    if (binding.version !== version)
      return { outcome: 'rejected', reason: 'connector_version_unsupported', message: 'another release is needed' };
    const connection = connections.get(`${who.principalId}/${connector}`);
    if (connection === undefined) return { outcome: 'authorization_required', message: 'authorize' };
    if (connection.state === 'reauth_required') return { outcome: 'reauth_required', message: 'authorize again' };
    const contractScope = createHash('sha256')
      .update(`${who.principalId} ${connector} ${connection.version}`)
      .digest('hex');
    return { who, upstream: { ...binding.upstream, credential: connection.credential, contractScope } };
  };
  const callIdFor = (who: Principal, connector: string): string => {
    const callId = `call-${calls.size + 1}`;
    calls.set(callId, `${who.principalId}/${connector}`);
    return callId;
  };

  return {
    sessions,
    connections,
    bindings,
    reports,
    asked,
    async listTools({ token, connectorId, connectorVersion, probe }) {
      asked.push(probe ? 'probe' : 'list');
      const decision = decide(token, connectorId, connectorVersion);
      if (!('who' in decision)) return decision;
      const { who, upstream } = decision;
      if (probe) return { outcome: 'authorized', principal: who, callId: null, upstream: null, tools: [] };
      return { outcome: 'authorized', principal: who, callId: callIdFor(who, connectorId), upstream, tools: [] };
    },
    async callTool({ token, connectorId, connectorVersion, toolName }) {
      asked.push(`call ${toolName}`);
      const decision = decide(token, connectorId, connectorVersion);
      if (!('who' in decision)) return decision;
      const { who, upstream } = decision;
      return {
        outcome: 'authorized',
        callId: callIdFor(who, connectorId),
        principal: who,
        risk: 'LOW',
        tool: null,
        upstream,
      };
    },
    async audit(report) {
      const key = calls.get(report.callId);
      reports.push(report);
      const connection = key === undefined ? undefined : connections.get(key);
      if (key !== undefined && connection !== undefined && report.outcome === 'upstream_refused')
        connections.set(key, { ...connection, state: 'reauth_required' });
      return key !== undefined;
    },
    async reported(outcome) {
      for (;;) {
        const found = reports.find((report) => report.outcome === outcome);
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

function principal(number: number): Principal {
  return {
    tenantId: 1n,
    principalId: BigInt(number),
    principalType: 'USER',
    principalName: `account-${number}`,
    displayName: `account ${number}`,
    clientId: 'test',
  };
}

export interface World {
  readonly gateway: Gateway;
  readonly authority: SmallAuthority;
  /** URL of connector `demo`. */
  readonly url: string;
}

export interface WorldOptions {
  readonly mode?: Upstream['mode'];
  readonly injection?: Injection;
  readonly credential?: string;
  readonly limits?: Upstream['limits'];
  readonly gateway?: Partial<GatewayOptions>;
}

export const BEARER: Injection = { kind: 'header', name: 'authorization', prefix: 'Bearer ' };

/** A gateway before `endpoint`, with a connection of Ann's to connector `demo`, version 1.0.0. Ends with the test. */
export async function world(endpoint: string, options: WorldOptions = {}): Promise<World> {
  const authority = smallAuthority();
  const { mode = 'modern', injection = BEARER, limits = {}, credential = CREDENTIAL } = options;
  const allowedHosts = [new URL(endpoint).host];
  const upstream = { endpoint, mode, allowedHosts, privateNetwork: true, injection, limits };
  authority.bindings.set('demo', { version: '1.0.0', upstream });
  authority.connections.set('1/demo', { credential, version: 1, state: 'connected' });
  const gateway = await openGateway({ authority, ...options.gateway });
  onTestFinished(() => gateway.close());
  return { gateway, authority, url: `${gateway.url}/v1/connectors/demo/mcp` };
}

export interface Question {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Overrides; undefined takes a header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly id?: unknown;
  /** Instead of a body made from the above. */
  readonly body?: string | Uint8Array;
  readonly httpMethod?: 'POST' | 'GET' | 'DELETE' | 'PUT' | 'OPTIONS';
  readonly signal?: AbortSignal;
}

export interface Told {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The JSON of the body, or of the last event. */
  readonly message: Message;
}

interface Message {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'sh.tutti/connectorVersion': '1.0.0',
};

/** One POST as a good client makes it, unless told otherwise. */
export async function ask(url: string, question: Question = {}): Promise<Told> {
  const { method = 'tools/list', params = {}, meta = {}, id = 1, httpMethod = 'POST' } = question;
  const body =
    question.body ?? JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${ANN}`,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'tutti-connector-version': '1.0.0',
    ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
    ...question.headers,
  };
  const reply = await request(url, {
    method: httpMethod,
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    body: httpMethod === 'POST' ? body : null,
    signal: question.signal ?? null,
  });
  const text = await reply.body.text();
  return { status: reply.statusCode, headers: reply.headers, text, message: lastMessage(text) };
}

/** `tools/call` of `name`. */
export function callOf(name: string, args: Readonly<Record<string, unknown>> = {}, rest: Question = {}): Question {
  return { method: 'tools/call', params: { name, arguments: args }, ...rest };
}

function lastMessage(text: string): Message {
  const events = text.split('\n\n').flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ')));
  const json = text.startsWith('{') ? text : (events.at(-1)?.slice(6) ?? '{}');
  return JSON.parse(json) as Message;
}

/** A request as a scripted upstream heard it. */
export interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  readonly body: { readonly id?: unknown; readonly method?: string; readonly params?: Record<string, unknown> };
  readonly text: string;
}

export type Script = (heard: Heard, response: ServerResponse, message: IncomingMessage) => void;

/** A modern upstream: lists `tools`, and answers calls by `script`. `heard` holds every request. */
export async function scripted(
  script: Script,
  tools: readonly object[] = [tool('echo')],
): Promise<{ readonly url: string; readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const { url } = await plainServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = JSON.parse(text === '' ? '{}' : text) as Heard['body'];
      const one = { headers: message.headers, url: message.url ?? '', body, text };
      heard.push(one);
      if (body.method === 'tools/list') return resultTo(one, response, { tools, ttlMs: 0, cacheScope: 'private' });
      script(one, response, message);
    });
  });
  return { url: `${url}/mcp`, heard };
}

/** A tool definition with the properties given. */
export function tool(name: string, properties: Readonly<Record<string, unknown>> = {}): object {
  return { name, inputSchema: { type: 'object', properties } };
}

/** Answers a result as JSON. */
export function resultTo({ body }: Heard, response: ServerResponse, result: object): void {
  json(response, 200, { jsonrpc: '2.0', id: body.id, result: { resultType: 'complete', ...result } });
}

export function errorTo({ body }: Heard, response: ServerResponse, status: number, error: object): void {
  json(response, status, { jsonrpc: '2.0', id: body.id, error });
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A result of text. */
export const text = (said: string): { readonly content: readonly object[] } => ({
  content: [{ type: 'text', text: said }],
});
