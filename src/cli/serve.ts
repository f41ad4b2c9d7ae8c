/**
 * The life of a process that serves: it says that it is ready, waits until it is told to stop, and closes.
 *
 * Told to stop: SIGTERM or SIGINT (a second one ends it at once), or the end of its parent. A parent that was killed can't send
 * a signal, but its end of the channel closes: that is how `up` leaves no child behind.
 */
import { setTimeout as after } from 'node:timers/promises';
import { EXIT, type ExitCode } from './exit.ts';
import type { Output } from './output.ts';

export interface Serving {
  /** What the one ready line on stdout says with --json; `text` is for a person. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Resolves when it can't go on by itself. */
  readonly failed?: Promise<unknown>;
  close(): Promise<void>;
}

/** Longer than any close takes when all is well, shorter than a service manager waits. */
const CLOSE_MS = 8_000;

export type Stop = 'SIGINT' | 'SIGTERM' | 'parent';

/** Serves until told to stop. The exit code says by what. */
export async function serve(output: Output, open: () => Promise<Serving>): Promise<ExitCode> {
  const stopped = untilTold();
  const serving = await open();
  output.result({ ready: true, ...serving.ready }, () => serving.text);
  const failed = serving.failed?.then(() => 'failed' as const) ?? new Promise<never>(() => undefined);
  const reason = await Promise.race([stopped, failed]);
  await Promise.race([serving.close(), after(CLOSE_MS, undefined, { ref: false })]);
  return reason === 'failed' ? EXIT.failed : codeOf(reason);
}

export const codeOf = (reason: Stop): ExitCode =>
  reason === 'SIGINT' ? EXIT.interrupted : reason === 'SIGTERM' ? EXIT.terminated : EXIT.ok;

/** Resolves with the first thing that tells this process to stop. */
export function untilTold(): Promise<Stop> {
  return new Promise((resolve) => {
    let told = false;
    const tell = (reason: Stop): void => {
      if (told && reason !== 'parent') process.exit(codeOf(reason));
      told = true;
      resolve(reason);
    };
    process.on('SIGTERM', tell).on('SIGINT', tell);
    process.once('disconnect', () => {
      tell('parent');
    });
  });
}
