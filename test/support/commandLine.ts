/** Runs the command line as a person does: another process. */
import { spawn } from 'node:child_process';
import { builtProgram } from './built.ts';

/** Program and arguments before the command. */
export const dacapo: readonly [string, ...string[]] = [process.execPath, builtProgram()];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end. `input` goes to its stdin. */
export function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ended> {
  const [program, ...first] = dacapo;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, [...first, ...args], { env: { PATH, HOME, ...environment }, timeout: 30_000 });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      resolve({ code, ...text });
    });
  });
}
