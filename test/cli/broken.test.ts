/** The daemon goes away in the middle of a request: what may have acted is told apart from what only tells. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EXIT } from '../../src/cli/exit.ts';
import { run } from '../support/commandLine.ts';

vi.setConfig({ testTimeout: 120_000 });

/** What the socket does with a command before the process behind it is gone. */
const dies = (response: ServerResponse): void => void response.socket?.destroy();
const tellsAndDies = (response: ServerResponse): void => {
  response.writeHead(200).write('{"result":{"step":"redirect","url":"http://127.0.0.1/"}}\n', () => {
    dies(response);
  });
};
const tellsAndEnds = (response: ServerResponse): void => {
  response.writeHead(200).end('{"result":{"step":"redirect","url":"http://127.0.0.1/"}}\n');
};
let end = dies;

const state = mkdtempSync(join(tmpdir(), 'dacapo-broken-'));
let server: Server;
beforeAll(async () => {
  server = createServer((_, response) => {
    end(response);
  });
  await new Promise<void>((resolve) => server.listen(join(state, 'control.sock'), resolve));
});
afterAll(() => {
  server.close();
  rmSync(state, { recursive: true });
});

test.each([
  ['call', ['call', 'docs__write'], dies],
  ['connect', ['connect', 'docs'], dies],
  ['connect', ['connect', 'docs'], tellsAndDies],
  ['connect', ['connect', 'docs'], tellsAndEnds],
  ['disconnect', ['disconnect', 'docs'], dies],
] as const)('whether a %s acted is unknown when the daemon goes away (%j)', async (name, args, how) => {
  end = how;
  const { code, stdout, stderr } = await run([...args, '--state', state]);
  expect([code, stdout]).toEqual([EXIT.unavailable, '']);
  expect(stderr).toMatch(new RegExp(`whether the ${name} acted is unknown[^]*next: look whether it acted before`));
});

test.each([['status'], ['tools'], ['why', 'docs']])('%s only tells: it can be asked again', async (...args) => {
  end = dies;
  const { code, stderr } = await run([...args, '--state', state]);
  expect(code).toBe(EXIT.unavailable);
  expect(stderr).toMatch(/the daemon went away before it answered\n\s+next: see `dacapo status`, then try again/);
});
