/**
 * The small door through which a person moves the demo's outside world: `GET` and `POST /settings` on loopback, behind a token.
 *
 * The address and the token lie in a file (0600) of the demo's directory, so that neither is an argument or an environment
 * variable of any process. The token is new with every start.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

import { closeServer, listenOn } from './listen.ts';
import { SettingsRefused, stored, write } from './settings.ts';
import type { Settings } from './settings.ts';

/** The two demo servers that can be moved. */
export type DemoName = 'business' | 'proxy';

/** The demo server is not running, so nothing was changed. Exit code 5. */
export class DemoNotRunning extends Error {
  override readonly name = 'DemoNotRunning';
}

interface Address {
  readonly url: string;
  readonly token: string;
}

const BODY_LIMIT = 16 * 1024;

/** Opens the control door of a demo server and leaves its address in `directory`. */
export async function openControl<S>(
  directory: string,
  name: DemoName,
  settings: Settings<S>,
): Promise<{ readonly close: () => Promise<void> }> {
  const token = randomBytes(32).toString('base64url');
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (incoming, response) => {
    answer(incoming, response, token, settings).catch(() => response.destroy());
  });
  const url = await listenOn(server, 0);
  write(addressFile(directory, name), { url: `${url}/settings`, token });
  return {
    close: async () => {
      rmSync(addressFile(directory, name), { force: true });
      await closeServer(server);
    },
  };
}

/**
 * Changes settings of a running demo server and answers those it now has.
 *
 * *Errors*: {@link DemoNotRunning}; {@link SettingsRefused} when the server did not understand the change.
 */
export async function changeSettings(
  directory: string,
  name: DemoName,
  patch: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const reply = await post(address(directory, name), JSON.stringify(patch)).catch(() => {
    throw notRunning(name);
  });
  const changed = JSON.parse(reply.text) as { readonly reason?: string };
  if (reply.status !== 200) throw new SettingsRefused(changed.reason ?? `the demo answered ${reply.status}`);
  return changed;
}

function post(to: Address, text: string): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${to.token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request(to.url, { method: 'POST', headers, timeout: 5_000, agent: false }, (answer) => {
      read(answer).then((body) => resolve({ status: answer.statusCode ?? 0, text: body }), reject);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in 5 s'))).on('error', reject);
    outgoing.end(text);
  });
}

async function answer<S>(
  incoming: IncomingMessage,
  response: ServerResponse,
  token: string,
  settings: Settings<S>,
): Promise<void> {
  if (!sameSecret(incoming.headers.authorization ?? '', `Bearer ${token}`))
    return send(response, 401, { reason: 'no' });
  if (incoming.url !== '/settings') return send(response, 404, { reason: 'only /settings is here' });
  if (incoming.method === 'GET') return send(response, 200, settings.current);
  if (incoming.method !== 'POST') return send(response, 405, { reason: 'GET or POST' });
  try {
    return send(response, 200, settings.change(JSON.parse(await read(incoming)) as Record<string, unknown>));
  } catch (error) {
    return send(response, 400, { reason: error instanceof SettingsRefused ? error.message : 'not a JSON object' });
  }
}

/** Equal, in a time that tells nothing about where they differ. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw new SettingsRefused(`more than ${BODY_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function address(directory: string, name: DemoName): Address {
  const found = stored(addressFile(directory, name)) as Address | undefined;
  if (found === undefined) throw notRunning(name);
  return found;
}

function notRunning(name: DemoName): DemoNotRunning {
  return new DemoNotRunning(`the demo's ${name} server is not running; start it with: dacapo up`);
}

function addressFile(directory: string, name: DemoName): string {
  return join(directory, `${name}.control.json`);
}
