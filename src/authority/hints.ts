/**
 * The channel of hints: one WebSocket a device, on which the server says that something changed. A hint carries no truth and may
 * be lost; a reader that falls behind is cut, because reconnecting makes it read the snapshot. Facts: tutti-client 1.5.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { hintFrame, hintProtocolVersion, readClientFrame, readyFrame } from '../protocol/hint.ts';
import type { SignedIn } from './accounts.ts';
import type { Change } from './changes.ts';
import { authenticate, type ControlParts } from './controlApi.ts';
import { Problem } from './problems.ts';

export const hintPath = '/v1/hints';

export interface Hints {
  /** Ends the channels of these sessions: their account signed out. */
  readonly endSessions: (sessions: readonly string[]) => void;
  readonly close: () => Promise<void>;
}

const maxFrameBytes = 16 * 1024;
const maxBuffered = 64 * 1024;
const channelsPerAccount = 64;
const sweepEveryMs = 30_000;
const initializeMs = 10_000;

// Close codes of our own; a client needs only to come back, or to sign in first.
const closing = { signedOut: 4401, late: 4408, tooMany: 4429, malformed: 4400 } as const;

interface Channel {
  readonly socket: WebSocket;
  readonly who: SignedIn;
  readonly generation: number;
  device: string;
  ready: boolean;
  /** Has answered since the last sweep. */
  alive: boolean;
  readonly openedAtMs: number;
}

/** Serves the channel on the control plane's own listener. */
export const openHints = (server: Server, parts: ControlParts): Hints => {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, perMessageDeflate: false });
  const channels = new Set<Channel>();
  let generations = 0;
  let dispatches = 0;

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    admit(parts, request).then(
      (who) => sockets.handleUpgrade(request, socket, head, (opened) => open(opened, who, deviceOf(request))),
      (error: unknown) => refuse(socket, error),
    );
  };
  const open = (socket: WebSocket, who: SignedIn, device: string): void => {
    const openedAtMs = parts.edge.now();
    const channel: Channel = { socket, who, device, generation: ++generations, ready: false, alive: true, openedAtMs };
    socket.on('error', () => socket.terminate());
    if ([...channels].filter((other) => other.who.account === who.account).length >= channelsPerAccount) {
      return socket.close(closing.tooMany, 'too many channels of this account');
    }
    channels.add(channel);
    socket.on('close', () => channels.delete(channel));
    socket.on('pong', () => (channel.alive = true));
    socket.on('message', (data) => hear(channel, data));
  };
  const sweep = setInterval(
    () => channels.forEach((channel) => check(channel, parts.edge.now())),
    sweepEveryMs,
  ).unref();
  const hint = (change: Change): void => {
    const dispatch = `${generations}-${++dispatches}`;
    channels.forEach((channel) => {
      if (channel.ready && channel.who.account === change.account)
        say(channel.socket, frameOf(channel, change, dispatch));
    });
  };
  const stopListening = parts.announcements.listen(hint);
  server.on('upgrade', upgrade);
  return {
    endSessions: (sessions) => {
      const ended = new Set(sessions);
      channels.forEach(({ socket, who }) => ended.has(who.sessionId) && socket.close(closing.signedOut, 'signed out'));
    },
    close: async () => {
      clearInterval(sweep);
      stopListening();
      server.off('upgrade', upgrade);
      channels.forEach(({ socket }) => socket.terminate());
      await new Promise<void>((resolve) => sockets.close(() => resolve()));
    },
  };
};

const admit = (parts: ControlParts, request: IncomingMessage): Promise<SignedIn> => {
  const { origin, cookie, authorization } = request.headers;
  if (origin !== undefined)
    return Promise.reject(new Problem('origin_refused', 'Requests from web pages are refused.'));
  const path = (request.url ?? '').split('?', 1)[0];
  if (path !== hintPath) return Promise.reject(new Problem('not_found', 'There is nothing at this path.'));
  return authenticate(parts, { cookie, authorization });
};

const refuse = (socket: Duplex, error: unknown): void => {
  const problem = error instanceof Problem ? error : new Problem('unavailable', 'Try again shortly.');
  const { code, message, retryable } = problem;
  const body = JSON.stringify({ code, message, retryable });
  const head = `HTTP/1.1 ${problem.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
};

const deviceOf = (request: IncomingMessage): string => {
  const query = (request.url ?? '').split('?')[1] ?? '';
  return (new URLSearchParams(query).get('deviceId') ?? '').slice(0, 256);
};

const hear = (channel: Channel, data: RawData): void => {
  channel.alive = true;
  const frame = readClientFrame(Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer));
  switch (frame?.action) {
    case 'connection.initialize':
      if (frame.protocolVersion !== hintProtocolVersion)
        return channel.socket.close(closing.malformed, 'protocol version 2 only');
      channel.ready = true;
      return say(channel.socket, readyFrame(String(channel.generation)));
    case 'init':
      channel.device = frame.deviceId.slice(0, 256);
      return;
    case 'ping':
      return say(channel.socket, pongFrame(frame.ts));
    default:
      return channel.socket.close(closing.malformed, 'not a frame of this channel');
  }
};

const pongFrame = (ts: number): string =>
  JSON.stringify({ protocol_version: hintProtocolVersion, event_type: 'pong', payload: { ts } });

const frameOf = (channel: Channel, change: Change, dispatchId: string): string =>
  hintFrame({
    revision: String(change.revision),
    connector: change.connector,
    account: channel.who.account,
    deviceId: channel.device,
    dispatchId,
  });

const say = (socket: WebSocket, frame: string): void => {
  if (socket.bufferedAmount > maxBuffered) return socket.terminate();
  socket.send(frame, () => undefined);
};

/** Every half minute: a channel that is over, silent or never began is ended. */
const check = (channel: Channel, now: number): void => {
  const { socket, who } = channel;
  if (who.expiresAtMs <= now) return socket.close(closing.signedOut, 'the session is over');
  if (!channel.ready && now - channel.openedAtMs > initializeMs) return socket.close(closing.late, 'not initialized');
  if (!channel.alive) return socket.terminate();
  channel.alive = false;
  socket.ping(() => undefined);
};
