/**
 * Serves an `AuthorityPort` over gRPC: on a unix socket that only this user opens, or on a loopback port behind a shared secret.
 * Credentials leave in these answers, so there is no third kind of address.
 */
import { chmodSync, rmSync } from 'node:fs';
import { Server, ServerCredentials, status, type handleUnaryCall, type ServerUnaryCall } from '@grpc/grpc-js';
import type { AuthorityPort } from '../protocol/authority.ts';
import { callAnswerToWire, listAnswerToWire, recordedToWire } from '../protocol/authorityWire.ts';
import { callRequestFromWire, listRequestFromWire, reportFromWire } from '../protocol/authorityRequestWire.ts';
import { maxMessageBytes, mcpRuntimeService, peerSecretKey } from '../protocol/grpc.ts';
import { AddressRefused, loopbackAddress } from './httpServer.ts';
import type { Log } from './log.ts';
import { sameSecret } from './requests.ts';

export interface RpcServerOptions {
  /** `unix:/path/authority.sock`, or `127.0.0.1:port` (0: a free one) together with `peerSecret`. */
  readonly address: string;
  readonly peerSecret?: string;
  readonly log: Log;
}

export interface RpcServer {
  /** What a client connects to. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

const options = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  'grpc.max_concurrent_streams': 256,
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

const unixPrefix = 'unix:';
/** The kernel's own limit is 108 with the ending zero; beyond it the path is cut in silence. */
const maxSocketPath = 104;

/** Listens. Throws {@link AddressRefused} for an address that must not carry credentials. */
export const serveAuthority = async (port: AuthorityPort, asked: RpcServerOptions): Promise<RpcServer> => {
  const path = asked.address.startsWith(unixPrefix) ? asked.address.slice(unixPrefix.length) : undefined;
  checkAddress(asked, path);
  const server = new Server(options);
  const { listTools, callTool, audit } = handlers(port, asked);
  server.addService({ ...mcpRuntimeService }, { listTools, callTool, audit });
  // Whoever owns the state directory owns the socket: what lies here was left by a process that is gone.
  if (path !== undefined) rmSync(path, { force: true });
  const bound = await bind(server, asked.address);
  if (path !== undefined) chmodSync(path, 0o600);
  const address = path === undefined ? asked.address.replace(/:\d+$/, `:${bound}`) : asked.address;
  return { address, close: () => closeServer(server) };
};

const checkAddress = ({ address, peerSecret }: RpcServerOptions, path: string | undefined): void => {
  if (path === undefined) {
    loopbackAddress(address);
    if (peerSecret !== undefined && peerSecret.length >= 32) return;
    throw new AddressRefused('an RPC port needs a shared secret of at least 32 characters; or use unix:PATH');
  }
  if (Buffer.byteLength(path) > maxSocketPath) {
    throw new AddressRefused(`the socket path is longer than ${maxSocketPath} bytes: choose a shorter state directory`);
  }
};

const handlers = (port: AuthorityPort, { peerSecret, log }: RpcServerOptions) => {
  const admitted = <Request, Response>(
    answer: (request: Request) => Promise<Response>,
  ): handleUnaryCall<Request, Response> => {
    return (call, respond) => {
      if (!isPeer(call, peerSecret)) return respond({ code: status.UNAUTHENTICATED, details: 'not a peer' });
      answer(call.request).then(
        (response) => respond(null, response),
        (error: unknown) => {
          log('error', 'an RPC failed', { error: error instanceof Error ? error.name : 'unknown' });
          respond({ code: status.INTERNAL, details: 'failed' });
        },
      );
    };
  };
  return {
    listTools: admitted(async (request: Parameters<typeof listRequestFromWire>[0]) =>
      listAnswerToWire(await port.listTools(listRequestFromWire(request))),
    ),
    callTool: admitted(async (request: Parameters<typeof callRequestFromWire>[0]) =>
      callAnswerToWire(await port.callTool(callRequestFromWire(request))),
    ),
    audit: admitted(async (command: Parameters<typeof reportFromWire>[0]) => {
      const report = reportFromWire(command);
      return recordedToWire(report !== undefined && (await port.audit(report)));
    }),
  };
};

const isPeer = (call: ServerUnaryCall<unknown, unknown>, secret: string | undefined): boolean => {
  if (secret === undefined) return true;
  const [given] = call.metadata.get(peerSecretKey);
  return typeof given === 'string' && sameSecret(given, secret);
};

// The mode of a unix socket is decided when it is made, and not by us: until the chmod, the umask keeps others out.
const bind = (server: Server, address: string): Promise<number> => {
  const before = process.umask(0o077);
  return new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(new AddressRefused(`the RPC address ${address} can't be listened on; is another authority running?`));
    });
  }).finally(() => process.umask(before));
};

const graceMs = 2_000;

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.forceShutdown(), graceMs);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
