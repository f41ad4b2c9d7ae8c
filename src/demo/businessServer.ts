/**
 * The demo's business server: the public everything server behind a listener that looks at a key.
 *
 * It plays the provider that the gateway talks to. Which key it accepts is a setting of the outside world: changing it is how a
 * person makes a stored credential go stale, without any switch in the product.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

import { openControl, sameSecret } from './control.ts';
import { loadEverything } from './everything.ts';
import type { Everything, Transport } from './everything.ts';
import { closeServer, listenOn } from './listen.ts';
import { openSettings, SettingsRefused } from './settings.ts';

/** The key that is accepted until somebody changes it. */
export const FIRST_KEY = 'demo-secret';

/** Which key is accepted; `null` accepts none. */
export interface BusinessSettings extends Readonly<Record<string, unknown>> {
  readonly acceptedKey: string | null;
}

export interface BusinessServerOptions {
  /** Where settings, the control address and files of the server lie. Made when missing. */
  readonly directory: string;
  /** Loopback port; 0 (default) takes a free one. */
  readonly port?: number;
}

/** A running demo server. `url` is what it serves. */
export interface DemoServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Session {
  readonly transport: Transport;
  readonly end: () => Promise<void>;
}

/** Sessions beyond this end, oldest first: the gateway is one-shot and leaves none, a forgetful client must not fill the memory. */
const SESSIONS = 256;

/** The environment a demo child gets: enough to find node and write in its own directory, nothing of the caller's. */
export function bareEnvironment(directory: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: directory, TMPDIR: directory, LANG: 'C.UTF-8' };
}

/**
 * Starts the business server on 127.0.0.1; MCP is served at `url` (path `/mcp`), 2025 era, with sessions.
 *
 * *Errors*: `NotInstalled` when the public server's package is missing.
 */
export async function runBusinessServer(options: BusinessServerOptions): Promise<DemoServer> {
  const everything = await loadEverything();
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const settings = openSettings(
    join(options.directory, 'business.settings.json'),
    { acceptedKey: FIRST_KEY },
    readSettings,
  );
  const sessions = new Map<string, Session>();
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (request, response) => {
    serve(request, response, settings.current.acceptedKey, everything, sessions).catch(() => response.destroy());
  });
  const url = await listenOn(server, options.port ?? 0);
  const control = await openControl(options.directory, 'business', settings);
  return { url: `${url}/mcp`, close: () => close(control, sessions, () => closeServer(server)) };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  acceptedKey: string | null,
  everything: Everything,
  sessions: Map<string, Session>,
): Promise<void> {
  if (acceptedKey === null || !sameSecret(keyOf(request), acceptedKey))
    return refuse(response, 401, 'key not accepted');
  if (request.url !== '/mcp') return refuse(response, 404, 'MCP is at /mcp');
  const id = request.headers['mcp-session-id'];
  if (id === undefined) return begin(request, response, everything, sessions);
  const session = sessions.get(String(id));
  if (session === undefined) return refuse(response, 404, 'session not found');
  await session.transport.handleRequest(request, response);
}

async function begin(
  request: IncomingMessage,
  response: ServerResponse,
  everything: Everything,
  sessions: Map<string, Session>,
): Promise<void> {
  const session: Session = await everything.open({
    newSessionId: randomUUID,
    onOpen: (id) => {
      sessions.set(id, session);
      evict(sessions);
    },
    onEnd: (id) => {
      sessions.delete(id);
      session.end().catch(() => {});
    },
  });
  await session.transport.handleRequest(request, response);
  if (session.transport.sessionId === undefined) await session.end();
}

function evict(sessions: Map<string, Session>): void {
  const [oldest] = sessions;
  if (sessions.size <= SESSIONS || oldest === undefined) return;
  sessions.delete(oldest[0]);
  oldest[1].end().catch(() => {});
}

/** Either way in which a provider key is commonly sent. */
function keyOf(request: IncomingMessage): string {
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '');
  return bearer?.[1] ?? String(request.headers['x-api-key'] ?? '');
}

function refuse(response: ServerResponse, status: number, error: string): void {
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...challenge }).end(JSON.stringify({ error }));
}

function readSettings(value: unknown): BusinessSettings | SettingsRefused {
  const acceptedKey = (value as Partial<BusinessSettings> | null)?.acceptedKey;
  const legal = acceptedKey === null || (typeof acceptedKey === 'string' && /^[\x21-\x7e]{1,512}$/.test(acceptedKey));
  return legal ? { acceptedKey } : new SettingsRefused('a key is 1 to 512 printable ASCII characters without spaces');
}

async function close(
  control: { close: () => Promise<void> },
  sessions: Map<string, Session>,
  closeListener: () => Promise<void>,
): Promise<void> {
  await Promise.allSettled([...sessions.values()].map((session) => session.end()));
  sessions.clear();
  await Promise.all([control.close(), closeListener()]);
}
