/**
 * The state directory of `up`: private to its user, held by one `up` at a time, with files that appear whole or not at all.
 */
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { acquireLock } from '../../events/lock.ts';
import { CommandError, EXIT } from '../exit.ts';

/** What the least of the kernels takes as the path of a unix socket, less the final zero. */
const SOCKET_PATH_BYTES = 103;

/** Makes the directory (0700) and holds it until the result is called, or the process ends. */
export function holdDirectory(state: string, sockets: readonly string[]): () => void {
  for (const socket of sockets) assertShort(join(state, socket));
  mkdirSync(state, { recursive: true, mode: 0o700 });
  chmodSync(state, 0o700);
  const lock = join(state, 'up.lock');
  createOnly(lock);
  try {
    return acquireLock(lock);
  } catch (error) {
    if ((error as Error).name !== 'LogConflict') throw error;
    throw new CommandError(
      EXIT.conflict,
      `${state} is in use by another dacapo up`,
      'stop that one, or choose another directory with --state',
    );
  }
}

/** Never opens a file that is there: closing it would drop what this process holds of it (POSIX). */
function createOnly(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes a file that only its owner may read. A reader sees the old text or the new one. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** A log that has grown is put aside, in place of the one put aside before. */
export function turnOver(path: string, mostBytes: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > mostBytes) renameSync(path, `${path}.1`);
}

/** The text of a file, or undefined when there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function assertShort(path: string): void {
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return;
  throw new CommandError(
    EXIT.usage,
    `the state directory's path is too long: ${path} has more than ${String(SOCKET_PATH_BYTES)} bytes, and a socket can't be there`,
    'choose a shorter directory with --state',
  );
}
