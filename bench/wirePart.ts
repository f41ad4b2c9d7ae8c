/** A part of the bench as a process: started by name, asked by messages, and telling its own CPU and memory. */
import { fork, type ChildProcess } from 'node:child_process';
import type { Address } from './wirePlaces.ts';

export interface Part {
  /** Where it listens; for a caller nowhere. */
  readonly address: Address;
  ask(what: string, options: object): Promise<unknown>;
  cpu(): Promise<NodeJS.CpuUsage>;
  /** Bytes of heap and buffers after a collection. */
  held(): Promise<number>;
  end(): Promise<void>;
}

export interface Question {
  readonly what: string;
  readonly options: object;
}

/** A part rests while others are measured; what V8 then throws away to save memory would be made again on our account. */
const FLAGS = ['--expose-gc', '--no-memory-reducer', '--no-flush-bytecode'];

export async function startPart(program: string, role: string, options: object): Promise<Part> {
  const child = fork(program, [role, JSON.stringify(options)], { execArgv: FLAGS });
  const address = (await answer(child)) as Address;
  const ask = (what: string, asked: object): Promise<unknown> => {
    child.send({ what, options: asked } satisfies Question);
    return answer(child);
  };
  return {
    address,
    ask,
    cpu: () => ask('cpu', {}) as Promise<NodeJS.CpuUsage>,
    held: () => ask('held', {}) as Promise<number>,
    end: () => ended(child),
  };
}

/** Its next message: a part answers one question at a time. */
function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => reject(new Error(`a part of the bench ended with ${String(code)}`));
    child.once('exit', gone);
    child.once('message', (message) => (child.off('exit', gone), resolve(message)));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 3_000).unref();
  });
}

/** Microseconds of CPU between two readings. */
export function cpuBetween(before: NodeJS.CpuUsage | undefined, after: NodeJS.CpuUsage | undefined): number {
  const total = (usage: NodeJS.CpuUsage | undefined): number => (usage === undefined ? NaN : usage.user + usage.system);
  return total(after) - total(before);
}
