/** Builders for tests of the demo's outside world: a directory of its own, and raw MCP posts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { request } from 'undici';

import { closeServer, listenOn } from '../../src/demo/listen.ts';

/** A directory that ends with the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'dacapo-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A plain HTTP server on loopback that ends with the test. */
export async function plainServer(
  listener: RequestListener,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(listener);
  const url = await listenOn(server, 0);
  onTestFinished(() => closeServer(server));
  return { url, server };
}

/** Closes what a test opened, when it ends. */
export function closing<T extends { close(): Promise<void> }>(opened: T): T {
  onTestFinished(() => opened.close());
  return opened;
}

/** One JSON-RPC post of the 2025 era. */
export async function post2025(
  url: string,
  key: string,
  message: object,
  session?: string,
): Promise<{ readonly status: number; readonly text: string; readonly session: string | undefined }> {
  const reply = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify(message),
  });
  return {
    status: reply.statusCode,
    text: await reply.body.text(),
    session: reply.headers['mcp-session-id'] as string | undefined,
  };
}

/** The `initialize` request that opens a session. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
