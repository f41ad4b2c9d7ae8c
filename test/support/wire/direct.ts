/** A server asked directly, by hand and without any library, so that its own bytes are known: over stdio, and over HTTP. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { openSseReader, rawAt, rawItems } from '../../../src/protocol/index.ts';

export interface Asked {
  /** The text of the result, or of the error. */
  ask(method: string, params: unknown): Promise<string>;
  close(): Promise<void>;
}

const require = createRequire(import.meta.url);

/** The script of a public server's command. */
export function scriptOf(name: string): string {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  return join(dirname(manifest), Object.values(bin)[0] ?? '');
}

const initialize = {
  ...{ protocolVersion: '2025-11-25', capabilities: {} },
  clientInfo: { name: 'direct', version: '1' },
};

/** Starts a server as a process and shakes hands. */
export async function openDirect(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Asked> {
  const base = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(process.execPath, [...args], { env: { ...base, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => waiting.get(Number(rawAt(line, ['id'])))?.(line));
  let count = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: unknown): Promise<string> => {
    const id = ++count;
    const line = new Promise<string>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    return outcomeOf(await line);
  };
  await ask('initialize', initialize);
  send({ method: 'notifications/initialized' });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { ask, close: () => (child.kill('SIGKILL'), closed) };
}

/** The text of a response's result or error. */
export function outcomeOf(message: string): string {
  return rawAt(message, ['result']) ?? rawAt(message, ['error']) ?? '';
}

/** One POST; the text of the result. Of a stream the last event counts. */
export async function post(url: string, headers: Readonly<Record<string, string>>, message: object): Promise<string> {
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const reply = await request(url, {
    method: 'POST',
    headers: { ...usual, ...headers },
    body: JSON.stringify(message),
  });
  const bytes = Buffer.from(await reply.body.arrayBuffer());
  const stream = String(reply.headers['content-type']).startsWith('text/event-stream');
  return outcomeOf(stream ? (openSseReader().feed(bytes).at(-1)?.data ?? '') : bytes.toString('utf8'));
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'sh.tutti/connectorVersion': '1.0.0',
};

/** A modern request with its headers; `more` for a credential. */
export function askModern(
  url: string,
  more: Readonly<Record<string, string>>,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const named = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named, ...more };
  return post(url, headers, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } });
}

/** The definitions of a list's result, each as its text. */
export function toolsIn(result: string): readonly string[] {
  return rawItems(rawAt(result, ['tools']) ?? '[]');
}

/** A definition under another name: these servers put the name first. Throws where they do not. */
export function renamed(definition: string, name: (own: string) => string): string {
  const [, own] = /^\{"name":"([^"\\]+)"/.exec(definition) ?? [];
  if (own === undefined) throw new Error(`a definition that does not begin with its name: ${definition.slice(0, 80)}`);
  return `{"name":"${name(own)}"${definition.slice(`{"name":"${own}"`.length)}`;
}
