/** Small programs for the process tests: each does one thing that real servers do wrong. */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { childEnv } from '../../../src/host/routes/childEnv.ts';
import type { ChildSpec } from '../../../src/host/routes/stdioTransport.ts';

export const programs = {
  /** Answers every line with itself. */
  echo: `process.stdin.on('data', (d) => process.stdout.write(d))`,
  /** Ignores TERM and the end of its input, and has a child that does too; prints both pids. */
  stubborn: `process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000);
    const c = require('node:child_process').spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: 'ignore' });
    console.log(JSON.stringify({ pids: [process.pid, c.pid] }))`,
  /** Starts a child in a session of its own, which no signal to the group reaches. */
  escaping: `process.stdin.resume(); process.stdin.on('end', () => process.exit(0));
    const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true });
    console.log(JSON.stringify({ pids: [process.pid, c.pid] }))`,
  /** Writes a line without end. */
  endless: `process.stdin.resume(); const x = 'x'.repeat(65536); const f = () => process.stdout.write(x, f); f()`,
  /** Prints noise between the messages. */
  noisy: `process.stdin.resume(); console.log('Listening...'); console.log('{"jsonrpc":"2.0","method":"a"}'); process.stdout.write(Buffer.from([0xff, 0xfe, 10])); console.log('{"jsonrpc":"2.0","method":"b"}')`,
  /** Prints text, a log in JSON or in notifications, or empty lines, for ever. */
  flooding: `process.stdin.resume(); setInterval(() => process.stdout.write('noise noise\\n'.repeat(1000)), 1)`,
  logging: `process.stdin.resume(); setInterval(() => process.stdout.write('{"level":"info"}\\n'.repeat(1000)), 1)`,
  notifying: `process.stdin.resume(); setInterval(() => process.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","level":"info"}\\n'.repeat(1000)), 1)`,
  blank: `process.stdin.resume(); setInterval(() => process.stdout.write('\\n'.repeat(1000)), 1)`,
  /** Dies after saying why. */
  dying: `console.error('no such database'); process.exit(3)`,
  /** Tells its environment. */
  environment: `console.log(JSON.stringify({ env: process.env })); process.stdin.resume()`,
} as const;

let count = 0;

/** A child that runs one of the programs, or any script. */
export function childOf(script: string, env: Readonly<Record<string, string>> = {}): ChildSpec {
  const mark = `test${process.pid}:boot:${++count}:`;
  return { command: process.execPath, args: ['-e', script], env: childEnv(env, process.env), cwd: tmpdir(), mark };
}

/** Whether a process is there and not merely waiting to be reaped. */
export function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false;
  }
}
