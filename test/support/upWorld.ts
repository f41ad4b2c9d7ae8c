/** A whole `dacapo up` as another process, for tests that look at it from outside. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { dacapo, run, type Ended } from './commandLine.ts';
import { documentOf } from './documents.ts';

export interface Ready {
  readonly mcpUrl: string;
  readonly mcpToken: string;
  readonly adminToken: string;
  readonly stateDir: string;
  readonly pids: Readonly<Record<'authority' | 'gateway' | 'daemon', number>>;
}

export class UpWorld {
  readonly state: string = join(mkdtempSync(join(tmpdir(), 'dacapo-up-')), 'state');
  #process: ChildProcess | undefined;

  /** Starts it and waits for its ready line, which must be as its schema says. */
  async start(...args: readonly string[]): Promise<Ready> {
    const [program, ...first] = dacapo;
    const { PATH = '', HOME = '' } = process.env;
    const up = spawn(program, [...first, 'up', '--json', '--state', this.state, ...args], {
      env: { PATH, HOME },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process = up;
    const [line] = (await once(up.stdout, 'data')) as [Buffer];
    return documentOf('ready-up', line.toString()) as unknown as Ready;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** One command against it. */
  command(...args: readonly string[]): Promise<Ended> {
    return run([...args, '--state', this.state]);
  }

  async document(name: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
    return documentOf(name, (await this.command(...args, '--json')).stdout);
  }

  /** Ends it by a signal; its exit code, or the signal. */
  async end(signal: NodeJS.Signals): Promise<number | string | null> {
    const up = this.#process;
    if (up === undefined || up.exitCode !== null || up.signalCode !== null) return null;
    const gone = once(up, 'exit') as Promise<[number | null, string | null]>;
    up.kill(signal);
    const [code, by] = await gone;
    return code ?? by;
  }

  async dispose(): Promise<void> {
    await this.end('SIGKILL');
    await until(() => this.left().length === 0).catch(() => undefined);
    rmSync(join(this.state, '..'), { recursive: true, force: true });
  }

  /** Command lines of processes that have to do with this state directory. */
  left(): readonly string[] {
    const numbers = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
    return numbers.map((pid) => procText(pid, 'cmdline')).filter((line) => line.includes(this.state));
  }
}

/** A file of `/proc/PID`, its parts joined by spaces; empty when the process is gone. */
export function procText(pid: number | string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Waits until something holds, at most 20 seconds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 200; look++) {
    if (await holds()) return;
    await after(100);
  }
  throw new Error('it did not come to hold within 20 seconds');
}
