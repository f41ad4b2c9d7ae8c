/** Puts the authority together: store, vault, runtime, its three doors. The only file of the room that knows all others. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { nanoid } from 'nanoid';
import type { AuthorityPort } from '../protocol/authority.ts';
import { adminApi } from './adminApi.ts';
import { tableSink } from './audit.ts';
import { openAnnouncements } from './changes.ts';
import { controlApi, type ControlParts } from './controlApi.ts';
import { openDrain } from './drain.ts';
import { hintPath, openHints } from './hints.ts';
import { AddressRefused, listen } from './httpServer.ts';
import { makeKeyFile, readKeyring, type Keyring } from './keyring.ts';
import type { Edge, Log } from './log.ts';
import { prune } from './prune.ts';
import { openRuntime } from './runtime.ts';
import { serveAuthority } from './rpcServer.ts';
import { plantSeed, type Seed } from './seed.ts';
import { openStore, type Store } from './store.ts';
import { openVault } from './vault.ts';

export interface AuthorityOptions {
  /** Made with mode 0700. Holds the store, and the key file unless that is named. */
  readonly stateDir: string;
  /** `127.0.0.1:port`; 0 takes a free one. Default `127.0.0.1:0`. */
  readonly controlAddress?: string;
  readonly adminAddress?: string;
  /** `unix:/path`, or `127.0.0.1:port` together with `rpcSecret`. Default: {@link rpcAddressFor}. */
  readonly rpcAddress?: string;
  readonly rpcSecret?: string;
  /** At least 32 characters. */
  readonly adminToken: string;
  /** File with the key encryption keys; default `kek` in the state directory, made at the first start. */
  readonly kekFile?: string;
  readonly seed: Seed;
  readonly log: Log;
  /** Clock, ids and randomness, for tests. */
  readonly edge?: Partial<Omit<Edge, 'log'>>;
  readonly rates?: Partial<ControlParts['rates']>;
}

export interface Authority {
  readonly controlUrl: string;
  readonly wsUrl: string;
  readonly adminUrl: string;
  readonly rpcAddress: string;
  /** The same port that the RPC address serves, without a socket between. */
  readonly port: AuthorityPort;
  /** Ends every door, delivers nothing more, leaves nothing open. Safe to call twice. */
  readonly close: () => Promise<void>;
}

const pruneEveryMs = 3_600_000;
const defaultRates = { reads: { burst: 240, perSecond: 20 }, writes: { burst: 60, perSecond: 2 } };

/**
 * Opens the authority on a state directory; the same directory again brings everything back. Throws StoreRefused,
 * AddressRefused, or a RangeError for an admin token that could be guessed.
 */
export const openAuthority = async (options: AuthorityOptions): Promise<Authority> => {
  if (options.adminToken.length < 32) throw new RangeError('the admin token has at least 32 characters');
  const edge: Edge = { now: Date.now, newId: () => nanoid(), randomBytes, ...options.edge, log: options.log };
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    return { ...(await openParts(options, edge, closing)), close };
  } catch (error) {
    await close();
    throw error;
  }
};

const openParts = async (
  options: AuthorityOptions,
  edge: Edge,
  closing: (() => Promise<void>)[],
): Promise<Omit<Authority, 'close'>> => {
  const stateDir = resolve(options.stateDir);
  const store = await openStore(stateDir);
  closing.push(store.close);
  const keyring = await keyringOf(store, options.kekFile ?? join(stateDir, 'kek'));
  const vault = openVault(keyring, edge);
  await store.inTransaction(async (tx) => {
    await plantSeed(tx, edge, options.seed);
    await vault.rewrap(tx);
    await prune(tx, edge.now());
  });
  const announcements = openAnnouncements((error) =>
    edge.log('error', 'a hint failed', { error: error instanceof Error ? error.name : 'unknown' }),
  );
  const drain = openDrain(store, tableSink(store), edge.log);
  closing.push(drain.close);
  closing.push(pruneNowAndThen(store, edge));
  const port = openRuntime({ edge, vault, store, announcements, drain });
  const parts: ControlParts = { edge, vault, store, announcements, rates: { ...defaultRates, ...options.rates } };

  const rpcAddress = options.rpcAddress ?? rpcAddressFor(stateDir);
  const peer = options.rpcSecret === undefined ? {} : { peerSecret: options.rpcSecret };
  const rpc = await serveAuthority(port, { address: rpcAddress, ...peer, log: edge.log });
  closing.push(rpc.close);
  const control = await listen(options.controlAddress ?? '127.0.0.1:0', controlApi(parts).fetch);
  closing.push(control.close);
  const hints = openHints(control.server, parts);
  closing.push(hints.close);
  const door = adminApi({ ...parts, adminToken: options.adminToken, drain, sessionsEnded: hints.endSessions });
  const admin = await listen(options.adminAddress ?? '127.0.0.1:0', door.fetch);
  closing.push(admin.close);
  const wsUrl = `${control.url.replace(/^http/, 'ws')}${hintPath}`;
  return { controlUrl: control.url, wsUrl, adminUrl: admin.url, rpcAddress: rpc.address, port };
};

// A store that was sealed with a key never gets another one by itself: that would hide that the right one is lost.
const keyringOf = async (store: Store, path: string): Promise<Keyring> => {
  const sealed = await store.inTransaction((tx) =>
    tx.selectFrom('account_keys').select('id').limit(1).executeTakeFirst(),
  );
  if (sealed === undefined && !existsSync(path)) makeKeyFile(path);
  return readKeyring(path);
};

const pruneNowAndThen = (store: Store, edge: Edge): (() => Promise<void>) => {
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = store
      .inTransaction((tx) => prune(tx, edge.now()))
      .catch((error: unknown) =>
        edge.log('warn', 'old rows could not be deleted', { error: error instanceof Error ? error.name : 'unknown' }),
      );
  };
  const timer = setInterval(run, pruneEveryMs).unref();
  return () => {
    clearInterval(timer);
    return running;
  };
};

/** Where the authority of a state directory listens for its gateway: in it, or where its path is too long for a socket, in a private directory of this user. */
export const rpcAddressFor = (stateDir: string): string => {
  const path = join(resolve(stateDir), 'authority.sock');
  if (Buffer.byteLength(path) <= 100) return `unix:${path}`;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return `unix:${privateDirectory(join(tmpdir(), `dacapo-${userInfo().uid}-${name}`))}/authority.sock`;
};

const privateDirectory = (path: string): string => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  const ours =
    found.isDirectory() &&
    (process.getuid === undefined || found.uid === process.getuid()) &&
    (found.mode & 0o077) === 0;
  if (!ours) throw new AddressRefused(`${path} in ${dirname(path)} is not a private directory of this user: remove it`);
  return path;
};
