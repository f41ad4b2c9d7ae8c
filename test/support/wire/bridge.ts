/**
 * A stdio server as an HTTP server of the `initialize` era, without a session: each POST is a line to the process, and the line that
 * answers it is the body. So the public servers can stand behind a gateway with the bytes that they print.
 */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { rawAt } from '../../../src/protocol/index.ts';

export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

/** One request at a time for each id: the tests behind it ask in turn. */
export async function openBridge(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Bridge> {
  const base = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(process.execPath, [...args], { env: { ...base, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<string, ServerResponse>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const id = rawAt(line, ['id']) ?? '';
    if (rawAt(line, ['method']) !== undefined) return;
    waiting.get(id)?.writeHead(200, { 'content-type': 'application/json' }).end(line);
    waiting.delete(id);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const id = rawAt(text, ['id']);
    if (id === undefined) response.writeHead(202).end();
    else waiting.set(id, response);
    child.stdin.write(`${text}\n`);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      child.kill('SIGKILL');
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
