/** What must hold of a log's file and its folder before SQLite may touch them. Whatever is in doubt is refused, with the next step. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
  type Stats,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LogAbsent, LogUnavailable, LogUnreadable } from './log.ts';

const OLDEST_SQLITE = '3.51.3';

/**
 * `f_type` of file systems where locks or shared memory of two processes may not meet. FUSE is among them: it may be sshfs, and
 * nothing in its number says so.
 */
const SHARED_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xfe534d42, 'smb2'],
  [0xff534d42, 'cifs'],
  [0x564c, 'ncp'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'kafs'],
  [0x73757245, 'coda'],
  [0x01021997, '9p'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  [0x01161970, 'gfs2'],
  [0x7461636f, 'ocfs2'],
  [0x47504653, 'gpfs'],
  [0x65735546, 'fuse'],
]);

/** Makes folder and file if they are missing (0700, 0600), and refuses what is a link, shared or open to everybody. */
export function prepareStoreFile(path: string): void {
  const folder = dirname(resolve(path));
  makeFolder(folder);
  if ((statSync(folder).mode & 0o002) !== 0)
    throw new LogUnavailable(`everybody may write to ${folder}: run "chmod 700 ${folder}", or choose another folder`);
  assertLocal(folder);
  for (const suffix of ['', '-wal', '-shm', '.lock']) assertPlain(path + suffix);
  createOnly(path);
  createOnly(`${path}.lock`);
}

/** The folder and those above it that are missing, so that a power cut does not take them away again with all that is in them. */
function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}

/**
 * Makes the names in a folder last. SQLite does so when it makes a WAL, but goes on when the disk refuses, and all that is in the
 * WAL is then lost with its name. Windows has no such thing.
 */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Refuses a path that is missing or not a plain file; changes nothing. */
export function assertStoreFile(path: string): void {
  if (!assertPlain(path)) throw new LogAbsent(`there is no log at ${path}`);
}

/** Whether there is a file. *Errors*: {@link LogUnreadable} for a link, a folder or anything else than a plain file. */
function assertPlain(path: string): boolean {
  const found: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile())
    throw new LogUnreadable(`${path} is not a plain file: move it away, a log is never written through a link`);
  return found !== undefined;
}

/** Never opens a file that is there: closing it would drop the locks that this process holds on it (POSIX). */
function createOnly(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

function assertLocal(folder: string): void {
  const shared = process.platform === 'linux' ? sharedFileSystem(statfsSync(folder).type) : undefined;
  if (shared !== undefined)
    throw new LogUnavailable(
      `${folder} is on ${shared}, where two machines could own one log: choose a folder on a local disk`,
    );
}

/** Name of a file system that a log is refused on, by `f_type` of statfs. */
export function sharedFileSystem(type: number): string | undefined {
  return SHARED_FILE_SYSTEMS.get(type);
}

/** Older ones can corrupt a WAL database when a write and a checkpoint meet. */
export function assertSqliteVersion(version: string): void {
  const [have, need] = [version, OLDEST_SQLITE].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const order = need.map((part, index) => (have[index] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
  if (!(order >= 0))
    throw new LogUnavailable(`SQLite ${version} is older than ${OLDEST_SQLITE}: install better-sqlite3 12.11 or newer`);
}

/** What a log takes up on the disk: its file and its WAL. */
export function bytesOf(path: string): number {
  const sizes = [path, `${path}-wal`].map((one) => statSync(one, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
