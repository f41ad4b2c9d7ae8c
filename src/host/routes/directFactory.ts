/**
 * The direct way: `POST {base}/v1/connectors/{connector}/mcp` with the account's cookie, which is read anew for every request and
 * refused when the login is of another account by then. A connector has no say in the address.
 */
import { connectorPath, createModernClient, postStreamed, type Post, type PostResponse } from '../../protocol/index.ts';
import { below, type Pools } from '../pools.ts';
import { SessionRefused, type Sessions } from '../sources/sessions.ts';
import type { RemoteMCPClientFactory } from './remoteClientFactory.ts';

export interface DirectOptions {
  /** https, or http on loopback; see config.ts. */
  readonly baseUrl: string;
  readonly sessions: Sessions;
  readonly pools: Pools;
  readonly hostVersion: string;
}

export function directFactory(options: DirectOptions): RemoteMCPClientFactory {
  return ({ connector, account, release }) => {
    const target = below(options.baseUrl, connectorPath(connector, 'mcp'));
    const client = createModernClient({
      post: accountPost(account, `connector ${connector}`, target, options),
      url: target.href,
      clientInfo: { name: 'tutti-connector-host', version: options.hostVersion },
      connectorVersion: release.version,
      now: Date.now,
    });
    return { ...client, close: () => Promise.resolve() };
  };
}

/** Sends in the name of one account. Without its login nothing is sent, and the answer is what a server would say: 401. */
function accountPost(account: string, purpose: string, target: URL, { sessions, pools }: DirectOptions): Post {
  const path = target.pathname;
  return async ({ headers, body, stop }) => {
    const session = await sessions.of(account).catch((error: unknown) => {
      if (error instanceof SessionRefused) return undefined;
      throw error;
    });
    if (session === undefined) return noSession;
    if (stop.reason !== undefined) throw stop.reason;
    const all = { ...headers, cookie: session.cookie };
    return postStreamed(pools.for(target, purpose), { path, headers: all, body }, { stop });
  };
}

const noSession: PostResponse = {
  status: 401,
  headers: {},
  body: (async function* () {})(),
  destroy: () => undefined,
};
