/**
 * The daemon's own door: HTTP over a unix socket that only its user can open, for the command line and the desktop. One POST a
 * command, JSON in and out; a command that tells more than once answers with one JSON document a line.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { parseJson } from '../protocol/index.ts';
import { readBody } from './pools.ts';
import type { Log } from './log.ts';

/** An answer once, or one after the other. */
export type Told = unknown;
export type Command = (input: unknown, signal: AbortSignal) => Promise<Told> | AsyncIterable<Told>;
export type Commands = Readonly<Record<string, Command>>;

/** What went wrong, as the other side of the socket reads it. */
export interface ControlError {
  readonly name: string;
  readonly reason?: string;
  readonly message: string;
}

export interface ControlServer {
  readonly path: string;
  close(): Promise<void>;
}

/** Longer paths are cut by the system, silently, into somebody else's. */
const PATH_BYTES = 103;

/** The state directory is too deep for a socket. */
export class SocketPathTooLong extends Error {
  override readonly name = 'SocketPathTooLong';
}

/** A command with its input checked. */
export function command<S extends z.ZodType>(
  schema: S,
  run: (input: z.output<S>, signal: AbortSignal) => Promise<Told> | AsyncIterable<Told>,
): Command {
  return (input, signal) => run(schema.parse(input), signal);
}

/** Opens the door. What lies at the path is of a daemon that is gone: the log has one owner. */
export async function openControl(path: string, commands: Commands, log: Log): Promise<ControlServer> {
  if (Buffer.byteLength(path) > PATH_BYTES)
    throw new SocketPathTooLong(`${path} is too long for a socket: choose a shorter state directory`);
  rmSync(path, { force: true });
  const open = new Set<AbortController>();
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    const left = new AbortController();
    open.add(left);
    response.on('error', () => undefined);
    response.once('close', () => (open.delete(left), left.abort(new Error('the caller left'))));
    void serve(commands, request, response, left.signal, log);
  });
  await listenPrivately(server, path);
  chmodSync(path, 0o600);
  return {
    path,
    close: async () => {
      for (const left of open) left.abort(new Error('the daemon stops'));
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      rmSync(path, { force: true });
    },
  };
}

/**
 * Nobody else may open the socket, not even for a moment. The mask is the whole process's, and the socket is made within `listen`:
 * kept for longer, it would take the right to enter from folders, and children, that come into being meanwhile.
 */
function listenPrivately(server: Server, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    return new Promise((resolve, reject) => server.once('error', reject).listen(path, resolve));
  } finally {
    process.umask(before);
  }
}

async function serve(
  commands: Commands,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  try {
    const name = (request.url ?? '/').slice(1);
    const run = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (run === undefined || request.method !== 'POST')
      return end(response, 404, { error: { name: 'UnknownCommand', message: 'there is no such command' } });
    const body = await readBody(request, 1_048_576);
    const told = run(body.length === 0 ? {} : parseJson(body, { duplicates: 'refuse' }).value, signal);
    if (Symbol.asyncIterator in told) await stream(response, told, signal);
    else end(response, 200, { result: (await told) ?? null });
  } catch (error) {
    const told = errorOf(error);
    if (told.name === 'InternalError')
      log('error', 'a command failed', { error: error instanceof Error ? error.message : 'unknown' });
    if (response.headersSent) response.end(`${JSON.stringify({ error: told })}\n`);
    else end(response, 400, { error: told });
  }
}

function end(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** One document a line. Waits for the reader: a long log does not pile up in memory. */
async function stream(response: ServerResponse, told: AsyncIterable<Told>, signal: AbortSignal): Promise<void> {
  const lines = told[Symbol.asyncIterator]();
  for (let next = await lines.next(); next.done !== true && !signal.aborted; next = await lines.next()) {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    if (!response.write(`${JSON.stringify({ result: next.value })}\n`)) await drained(response, signal);
  }
  if (signal.aborted) await lines.return?.();
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.end();
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Errors of this room and of the log say what they are; anything else is ours and says nothing. */
export const namedErrors: ReadonlySet<string> = new Set([
  ...[
    'AuthorizationRefused',
    'SessionRefused',
    'ChoiceNotKept',
    'NoAccounts',
    'ControlUnreachable',
    'BadSession',
    'BadJson',
    'BodyTooLarge',
  ],
  ...['LogConflict', 'LogUnavailable', 'LogUnreadable', 'McpError', 'UnknownAccount'],
]);

/** Key by key what is expected there, in one line. */
function wrongIn({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; ');
}

function errorOf(error: unknown): ControlError {
  if (error instanceof z.ZodError) return { name: 'BadInput', message: wrongIn(error) };
  if (!(error instanceof Error)) return { name: 'InternalError', message: 'an internal error' };
  const reason = 'reason' in error && typeof error.reason === 'string' ? { reason: error.reason } : {};
  if (namedErrors.has(error.name)) return { name: error.name, message: error.message, ...reason };
  return { name: 'InternalError', message: 'an internal error' };
}
