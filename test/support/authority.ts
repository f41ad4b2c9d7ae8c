/** A real authority on a state directory of its own, and the few requests that its tests repeat. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { WebSocket } from 'ws';
import {
  demoSeed,
  openAuthority,
  type Authority,
  type AuthorityOptions,
  type Seed,
} from '../../src/authority/index.ts';
import type { CallToolAnswer, CallToolRequest, ListToolsAnswer } from '../../src/protocol/authority.ts';
import { openAuthorityClient, type AuthorityClient } from '../../src/gateway/authorityClient.ts';

export const adminToken = 'an-operator-token-for-tests-only-0123456789';
export const endpoint = 'http://127.0.0.1:9/mcp';

/** Accounts of a test's own server: one for each test, so that one server can do for all of them. */
export const manyAccounts = (count: number): Seed['accounts'] =>
  Array.from({ length: count }, (_, index) => ({ id: `account-${index + 1}`, displayName: `Account ${index + 1}` }));

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks into foreign JSON freely
  readonly json: any;
}

/** A running authority with what a test needs around it. */
export interface World {
  readonly authority: Authority;
  readonly stateDir: string;
  readonly logged: readonly string[];
  readonly rpc: AuthorityClient;
  readonly admin: (method: Method, path: string, body?: unknown) => Promise<Answer>;
  readonly signIn: (account: string) => Promise<Person>;
  /** Ends everything; the state directory stays when it is to be opened again. */
  readonly close: (keep?: 'keep') => Promise<void>;
}

/** Somebody signed in, and what their daemon and gateway would ask for them. */
export interface Person {
  readonly account: string;
  readonly token: string;
  readonly cookie: string;
  readonly control: (method: Method, path: string, body?: unknown) => Promise<Answer>;
  readonly connect: (secret?: string) => Promise<Answer>;
  readonly snapshot: () => Promise<Snapshot>;
  readonly list: (probe?: boolean) => Promise<ListToolsAnswer>;
  readonly call: (changed?: Partial<CallToolRequest>) => Promise<CallToolAnswer>;
  readonly hints: () => Promise<Channel>;
}

export interface Snapshot {
  readonly accountId: string;
  readonly revision: string;
  readonly serverEpoch: string;
  readonly connectors: readonly {
    readonly connectorId: string;
    readonly state: string;
    readonly connectionId: string;
    readonly connectionVersion: string;
  }[];
}

type Method = 'GET' | 'POST' | 'DELETE';

export const send = async (
  method: Method,
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> => {
  // A kept connection would be to the server of the test before.
  const answer = await request(url, { reset: true, method, headers, ...(body !== undefined && { body }) });
  const text = await answer.body.text();
  const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
  return { status: answer.statusCode, headers: answer.headers, text, json };
};

const sendJson = (method: Method, url: string, headers: Record<string, string>, body?: unknown): Promise<Answer> =>
  body === undefined
    ? send(method, url, headers)
    : send(method, url, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body));

/** Opens a world; a state directory that is handed in is used again. */
export const openWorld = async (options: Partial<AuthorityOptions> = {}): Promise<World> => {
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), 'dacapo-authority-'));
  const logged: string[] = [];
  const authority = await openAuthority({
    adminToken,
    seed: demoSeed({ everythingEndpoint: endpoint }),
    log: (...line) => void logged.push(JSON.stringify(line)),
    ...options,
    stateDir,
  });
  const rpc = openAuthorityClient({
    address: authority.rpcAddress,
    ...(options.rpcSecret !== undefined && { peerSecret: options.rpcSecret }),
    // Two shared cores: a deadline that belongs to a test is set by that test.
    deadlineMs: 20_000,
  });
  const admin: World['admin'] = (method, path, body) =>
    sendJson(method, `${authority.adminUrl}${path}`, { authorization: `Bearer ${adminToken}` }, body);
  const signIn = async (account: string): Promise<Person> => {
    const { json } = await admin('POST', `/v1/accounts/${account}/sessions`, {});
    return person({ authority, rpc }, account, json.token, json.session.cookie);
  };
  const close = async (keep?: 'keep'): Promise<void> => {
    rpc.close();
    await authority.close();
    if (keep !== 'keep') rmSync(stateDir, { recursive: true, force: true });
  };
  return { authority, stateDir, logged, rpc, admin, signIn, close };
};

let asked = 0;

const person = (
  { authority, rpc }: Pick<World, 'authority' | 'rpc'>,
  account: string,
  token: string,
  cookie: string,
): Person => {
  const control: Person['control'] = (method, path, body) =>
    sendJson(method, `${authority.controlUrl}${path}`, { cookie }, body);
  const at = { token, connectorId: 'everything', connectorVersion: '1.0.0' };
  return {
    account,
    token,
    cookie,
    control,
    connect: async (secret = `${account}-secret`) => {
      const start = { clientRequestId: `request-${++asked}`, connectorVersion: '1.0.0' };
      const { json } = await control('POST', '/v1/connectors/everything/authorization-sessions', start);
      const path = `/v1/connector-authorization-sessions/${json.session.sessionId}/complete`;
      return control('POST', path, { secret: { secret } });
    },
    snapshot: async () => (await control('GET', '/v1/connector-authorizations/snapshot')).json as Snapshot,
    list: (probe = false) => rpc.listTools({ ...at, probe }),
    call: (changed = {}) => rpc.callTool({ ...at, toolName: 'echo', argumentDigest: 'sha256:a', ...changed }),
    hints: () => openChannel(authority.wsUrl, { cookie }),
  };
};

/** A channel of hints, its frames as they come. */
export interface Channel {
  readonly frames: readonly Record<string, never>[];
  /** Resolves with the first frame, from now on or earlier, that fits. */
  readonly frame: (fits: (frame: Record<string, never>) => boolean) => Promise<Record<string, never>>;
  readonly closed: Promise<number>;
  readonly say: (text: string) => void;
  readonly end: () => Promise<void>;
}

/** Opens the channel and greets; rejects with the HTTP status when the upgrade is refused. */
export const openChannel = async (wsUrl: string, headers: Record<string, string>): Promise<Channel> => {
  const socket = new WebSocket(`${wsUrl}?deviceId=device-1`, { headers });
  const frames: Record<string, never>[] = [];
  const waiting = new Set<() => void>();
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  socket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Record<string, never>);
    waiting.forEach((look) => look());
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('unexpected-response', (_request, answer) => reject(new Error(`status ${answer.statusCode}`)));
    socket.on('error', reject);
  });
  socket.send(JSON.stringify({ action: 'connection.initialize', data: { protocolVersion: 2 } }));
  socket.send(JSON.stringify({ action: 'init', data: { deviceId: 'device-1' } }));
  const frame: Channel['frame'] = (fits) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const end = async (): Promise<void> => {
    socket.terminate();
    await closed;
  };
  return { frames, frame, closed, say: (text) => socket.send(text), end };
};

export const ofType =
  (type: string) =>
  (frame: Record<string, never>): boolean =>
    frame['event_type'] === type;
