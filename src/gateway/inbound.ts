/**
 * A checked request of door 1 with the account session it came with, held for the time of its answer.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { HeaderFields } from '../protocol/fields.ts';
import type { Request } from '../protocol/jsonrpc.ts';
import type { Envelope, Implementation, ProgressToken } from '../protocol/mcp.ts';
import type { Stop } from '../protocol/stop.ts';

export interface Inbound {
  readonly request: Request;
  readonly headers: HeaderFields;
  readonly connectorId: string;
  readonly connectorVersion: string;
  /** The account session. It goes to the authority and nowhere else. */
  readonly token: string;
  /** Names session, connector and version without being able to give them back. */
  readonly identity: string;
  readonly clientInfo: Implementation | undefined;
  readonly progressToken: ProgressToken | undefined;
  readonly remoteIp: string;
  readonly traceId: string;
  /** Given up when the caller goes away. */
  readonly stop: Stop;
  /** Sends a notification of this request to its caller. */
  readonly event: (text: string) => void;
  /** Resolves when the caller has taken what was sent to it; undefined when it has. */
  readonly rest: () => Promise<void> | undefined;
}

export interface Caller {
  readonly message: IncomingMessage;
  readonly token: string;
  readonly session: string;
  readonly connectorId: string;
  readonly traceId: string;
}

/** A name for a session that is not the session: a token is a secret, and no map or log holds one. */
export function sessionHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** What the reply offers to whoever answers. */
export type Connection = Pick<Inbound, 'stop' | 'event' | 'rest'>;

export function inboundOf(caller: Caller, request: Request, envelope: Envelope, connection: Connection): Inbound {
  const { message, token, session, connectorId, traceId } = caller;
  const connectorVersion = envelope.connectorVersion ?? '';
  return {
    request,
    headers: message.headers,
    connectorId,
    connectorVersion,
    token,
    identity: `${session} ${connectorId} ${connectorVersion}`,
    clientInfo: envelope.clientInfo,
    progressToken: envelope.progressToken,
    remoteIp: message.socket.remoteAddress ?? '',
    traceId,
    ...connection,
  };
}
