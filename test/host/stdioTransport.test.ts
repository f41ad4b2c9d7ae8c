import { afterEach, expect, test } from 'vitest';
import { childEnv } from '../../src/host/routes/childEnv.ts';
import { Allowance } from '../../src/host/routes/lines.ts';
import { marked } from '../../src/host/routes/processTree.ts';
import { childLimits, StdioTransport, type ChildLimits } from '../../src/host/routes/stdioTransport.ts';
import { childOf, lives, programs } from '../support/host/children.ts';

const quick: ChildLimits = { ...childLimits, patience: { stdinMs: 150, termMs: 150 } };
const open: StdioTransport[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

type Message = Readonly<Record<string, unknown>>;

/** A started child, its messages as they come, and a way to wait for the next. */
async function child(script: string, limits = quick, env: Readonly<Record<string, string>> = {}) {
  const transport = new StdioTransport(childOf(script, env), limits);
  open.push(transport);
  const messages: Message[] = [];
  let told: () => void = () => undefined;
  transport.tap = (message) => (messages.push(message), told(), !('level' in message));
  await transport.start();
  const next = async (): Promise<Message> => {
    while (messages.length === 0) await new Promise<void>((resolve) => (told = resolve));
    return messages.shift() ?? {};
  };
  return { transport, next };
}

test('a line goes out and comes back', async () => {
  const { transport, next } = await child(programs.echo);
  await transport.write('{"jsonrpc":"2.0","id":12345678901234567890,"x":"é"}');
  expect(await next()).toMatchObject({ x: 'é' });
});

test('a tree that ignores the end of its input and TERM is killed whole', async () => {
  const { transport, next } = await child(programs.stubborn);
  const { pids } = (await next()) as { pids: number[] };
  expect(pids.map(lives)).toEqual([true, true]);
  await transport.close();
  expect(pids.map(lives)).toEqual([false, false]);
});

test('a descendant that left the process group is found by its mark', async () => {
  const { transport, next } = await child(programs.escaping);
  const { pids } = (await next()) as { pids: number[] };
  await transport.close();
  expect(pids.map(lives)).toEqual([false, false]);
  expect(marked(`test${process.pid}:`)).toEqual([]);
});

test('a child whose leader is killed from outside leaves nobody behind', async () => {
  const { transport, next } = await child(programs.stubborn);
  const { pids } = (await next()) as { pids: number[] };
  process.kill(pids[0] ?? 0, 'SIGKILL');
  expect(await transport.exited).toBe('ended by SIGKILL');
  await transport.close();
  expect(pids.map(lives)).toEqual([false, false]);
});

test('a line without end ends the child, not the daemon', async () => {
  const { transport } = await child(programs.endless, { ...quick, lineBytes: 1_000_000 });
  expect(await transport.exited).toBe('a line of more than 1000000 bytes');
});

test('noise between messages is passed over', async () => {
  const { next } = await child(programs.noisy);
  expect([await next(), await next()]).toMatchObject([{ method: 'a' }, { method: 'b' }]);
});

test('noise without end ends the child, and says what it was', async () => {
  for (const script of [programs.flooding, programs.logging, programs.notifying, programs.blank]) {
    const { transport } = await child(script);
    expect(await transport.exited).toMatch(/^more than 5000 lines or 8388608 bytes on stdout .* belongs on stderr$/);
  }
});

test('an allowance is of lines and of bytes, and is there again after its time', () => {
  const allowance = new Allowance({ lines: 2, bytes: 10, perMs: 100 });
  allowance.spend(1, 0);
  allowance.spend(1, 99);
  expect(() => allowance.spend(1, 99)).toThrow('more than 2 lines');
  allowance.spend(10, 100);
  expect(() => allowance.spend(1, 101)).toThrow('or 10 bytes');
  allowance.spend(1, 200);
});

test('a child that dies says with what code, and its last words are kept', async () => {
  const { transport } = await child(programs.dying);
  expect(await transport.exited).toBe('exited with code 3');
  expect(transport.stderr()).toContain('no such database');
  await expect(transport.write('{}')).rejects.toThrow('not running');
});

test('a child that does not read its input is ended', async () => {
  const { transport } = await child(`setInterval(() => {}, 1000)`, { ...quick, writeMs: 200 });
  await expect(transport.write('x'.repeat(4_000_000))).rejects.toThrow();
  expect(await transport.exited).toBe('it does not read its input');
});

test('a program that is not there is an error of the start', async () => {
  const transport = new StdioTransport({ ...childOf(''), command: '/nowhere/program' }, quick);
  await expect(transport.start()).rejects.toThrow('ENOENT');
  expect(await transport.exited).toBe('could not be started: ENOENT');
});

test('a child sees the allow-list and what was declared, and nothing else of ours', async () => {
  process.env['CANARY_SECRET'] = 'canary';
  const { next } = await child(programs.environment, quick, { API_MODE: 'x' });
  const { env } = (await next()) as { env: Record<string, string> };
  delete process.env['CANARY_SECRET'];
  expect(env).toMatchObject({ API_MODE: 'x' });
  expect(JSON.stringify(env)).not.toContain('canary');
});

test.each(['LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'BASH_ENV', 'DYLD_INSERT_LIBRARIES', 'dacapo_child', 'a b', ''])(
  'the variable %s can not be declared',
  (name) => {
    expect(() => childEnv({ [name]: '/x' }, {})).toThrow(TypeError);
  },
);
