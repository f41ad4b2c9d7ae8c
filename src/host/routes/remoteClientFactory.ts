/**
 * The port between the host and the way to a gateway. The request says who asks and for what; it never holds an address, a cookie
 * or a credential, so that neither a connector nor a product can redirect it by filling in a field. Seed 1 "client architecture".
 */
import { createHash } from 'node:crypto';
import type { ModernClient } from '../../protocol/index.ts';
import type { RemoteConfig } from '../config.ts';

export interface RemoteClientRequest {
  /** Id of this activation, for logs on both sides. */
  readonly operation: string;
  /** The route's own identity on this machine; stays the same when the server's default connection changes. */
  readonly connection: string;
  readonly connector: string;
  readonly account: string;
  readonly release: { readonly version: string; readonly digest: string };
  readonly generation: string;
  readonly epoch: number;
  /** The signed contract of the upstream, by reference. */
  readonly binding: RemoteConfig['binding'];
}

/** A client for one route. `close` is given up calls and nothing on the wire: there is no session. */
export interface RemoteClient extends ModernClient {
  close(): Promise<void>;
}

export type RemoteMCPClientFactory = (request: RemoteClientRequest) => RemoteClient;

/** Local connection id of an account's connector (facts: tutti-client 2.6). */
export function localConnection(account: string, connector: string): string {
  return `account-${createHash('sha256').update(`${account}\0${connector}`).digest('hex').slice(0, 32)}`;
}
