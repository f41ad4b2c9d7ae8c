/**
 * An `AuthorityPort` over gRPC: each question one unary call with a deadline, cancelled when it is given up. Whatever goes wrong
 * with the transport is the outcome `unavailable`; the authority being away must never look like a missing authorization.
 */
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { callAnswerFromWire, listAnswerFromWire, recordedFromWire } from '../protocol/authorityWire.ts';
import { callRequestToWire, listRequestToWire, reportToWire } from '../protocol/authorityRequestWire.ts';
import type { AskOptions, AuthorityPort, Refusal } from '../protocol/authority.ts';
import { maxMessageBytes, mcpRuntimeService, peerSecretKey, type UnaryMethod } from '../protocol/grpc.ts';

export interface AuthorityClientOptions {
  /** `unix:/path/to/authority.sock`, or `127.0.0.1:port` together with the shared secret. */
  readonly address: string;
  readonly peerSecret?: string;
  /** For each question that brings none; default 3000. */
  readonly deadlineMs?: number;
}

export interface AuthorityClient extends AuthorityPort {
  /** Gives up what is in flight and closes the connection. */
  close(): void;
}

const defaultDeadlineMs = 3000;

/** Opens lazily: the first question connects, and a lost connection is made anew by the next one. */
export const openAuthorityClient = (options: AuthorityClientOptions): AuthorityClient => {
  const channel = new Client(options.address, credentials.createInsecure(), {
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    // grpc-js shares subchannels between clients by default: closing one of two would not close its connection.
    'grpc.use_local_subchannel_pool': 1,
  });
  const ask = <Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    asked: AskOptions,
  ): Promise<Response> => unary(channel, method, request, metadata(options.peerSecret), deadline(asked, options));
  return {
    listTools: (request, asked = {}) =>
      ask(mcpRuntimeService.listTools, listRequestToWire(request), asked).then(listAnswerFromWire, away),
    callTool: (request, asked = {}) =>
      ask(mcpRuntimeService.callTool, callRequestToWire(request), asked).then(callAnswerFromWire, away),
    audit: (report, asked = {}) =>
      ask(mcpRuntimeService.audit, reportToWire(report), asked).then(recordedFromWire, () => false),
    close: () => channel.close(),
  };
};

const deadline = (
  asked: AskOptions,
  options: AuthorityClientOptions,
): Required<Pick<AskOptions, 'deadlineMs'>> & AskOptions => ({
  ...asked,
  deadlineMs: asked.deadlineMs ?? options.deadlineMs ?? defaultDeadlineMs,
});

const metadata = (peerSecret: string | undefined): Metadata => {
  const made = new Metadata();
  if (peerSecret !== undefined) made.set(peerSecretKey, peerSecret);
  return made;
};

const unary = <Request, Response>(
  channel: Client,
  method: UnaryMethod<Request, Response>,
  request: Request,
  sent: Metadata,
  { stop, deadlineMs }: Required<Pick<AskOptions, 'deadlineMs'>> & AskOptions,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    if (stop?.reason !== undefined) return reject(stop.reason);
    const { path, requestSerialize, responseDeserialize } = method;
    const sentAt = { deadline: Date.now() + deadlineMs };
    const call = channel.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, sent, sentAt, answered);
    const release = stop?.listen(() => call.cancel());
    function answered(error: ServiceError | null, response?: Response): void {
      release?.();
      if (error !== null || response === undefined) reject(error ?? new Error('no answer'));
      else resolve(response);
    }
  });

// The status text of a transport names sockets and addresses; only its code is passed on.
const away = (error: unknown): Refusal => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'none';
  return { outcome: 'unavailable', message: `The authority did not answer (gRPC status ${code}); try again shortly.` };
};
