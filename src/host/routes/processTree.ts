/**
 * Ends a child with everything it started. A child leads its own process group; descendants that left the group are found by a
 * mark in their environment (Linux only: elsewhere the group is all that can be reached).
 */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** How long each step may take before the next, harder one. With the time for running calls below the 6 s of a stop (D47). */
export interface Patience {
  readonly stdinMs: number;
  readonly termMs: number;
}
export const patience: Patience = { stdinMs: 1_000, termMs: 2_000 };

/** The variable that marks every process of a daemon: `owner:boot:child`. */
export const markVariable = 'DACAPO_CHILD';

/** Signals the group that `pid` leads. False when nobody is left in it. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Processes whose environment holds a mark that begins so; only those this user may look into. */
export function marked(beginning: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  const wanted = `${markVariable}=${beginning}`;
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => environment(name).some((variable) => variable.startsWith(wanted)))
    .map(Number);
}

function environment(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

/** Kills what carries the mark. Returns how many there were. */
export function sweep(beginning: string): number {
  const left = marked(beginning);
  for (const pid of left) kill(pid);
  return left.length;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended between the look and the signal, which is what was wanted.
  }
}

/**
 * Asks a child to leave (end of its stdin, then TERM to the group) and makes it (KILL to the group, then whoever carries the
 * mark). Resolves when the leader is reaped and nobody carries the mark.
 */
export async function endTree(child: ChildProcess, mark: string, wait: Patience = patience): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin?.end();
  if (!(await exitsWithin(child, wait.stdinMs))) {
    signalGroup(pid, 'SIGTERM');
    await exitsWithin(child, wait.termMs);
  }
  // Also when the leader left by itself: its children need not have.
  signalGroup(pid, 'SIGKILL');
  await exitsWithin(child, wait.termMs);
  await sweepUntilGone(mark, wait.termMs);
}

/** A killed process is gone a little later than the signal, and may have started another in between. */
async function sweepUntilGone(mark: string, ms: number): Promise<void> {
  const endAt = performance.now() + ms;
  while (sweep(mark) > 0 && performance.now() < endAt) await pause(10);
}

function exitsWithin(child: ChildProcess, ms: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (exited: boolean): void => {
      clearTimeout(timer);
      child.off('exit', left);
      resolve(exited);
    };
    const left = (): void => done(true);
    const timer = setTimeout(() => done(false), ms);
    child.once('exit', left);
  });
}
