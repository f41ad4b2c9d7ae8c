/** Starts the appender, and ends it with the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface Appender {
  readonly pid: number;
  /** The next line it prints; rejects when it ends first. */
  next(): Promise<string>;
  /** Tells it something, and returns what it says to it. */
  ask(line: string): Promise<string>;
  /** SIGKILL, and everything that it had still printed. */
  kill(): Promise<readonly string[]>;
}

/** `script` is what `compileChild` returned. */
export function spawnAppender(
  script: string,
  mode: 'forever' | 'steps',
  path: string,
  env: NodeJS.ProcessEnv = {},
): Appender {
  const child = spawn(process.execPath, [script, mode, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => end(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the appender ended');
    return value;
  };
  const ask = (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`);
    return next();
  };
  const kill = async (): Promise<readonly string[]> => {
    await end(child);
    const rest: string[] = [];
    for (let line = await lines.next(); line.done !== true; line = await lines.next()) rest.push(line.value);
    return rest;
  };
  return { pid: child.pid!, next, ask, kill };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
