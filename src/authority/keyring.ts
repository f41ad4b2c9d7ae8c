/**
 * The key encryption keys, from a file that is not the database (0600). One line a key, the first is the current one; further
 * lines are earlier keys, kept until every data key is wrapped anew.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { StoreRefused } from './store.ts';

export interface KeyEncryptionKey {
  /** Derived from the key itself, so that a wrong key is recognized before it is tried. */
  readonly id: string;
  readonly key: Buffer;
}

export interface Keyring {
  readonly current: KeyEncryptionKey;
  readonly byId: (id: string) => KeyEncryptionKey | undefined;
}

const keyBytes = 32;

const withId = (key: Buffer): KeyEncryptionKey => ({
  id: createHash('sha256').update('dacapo.kek').update(key).digest('hex').slice(0, 16),
  key,
});

/** A new key as a line of the file. */
export const newKeyLine = (): string => randomBytes(keyBytes).toString('base64url');

/** Reads the key file. Throws {@link StoreRefused} when it is missing, open to others or malformed. */
export const readKeyring = (path: string): Keyring => {
  const keys = readPrivate(path)
    .split(/\s+/)
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'base64url'));
  const [current, ...earlier] = keys.map(withId);
  if (current === undefined || keys.some((key) => key.length !== keyBytes)) {
    throw new StoreRefused('key', `${path} is no key file: expected 32 bytes in base64url on each line`);
  }
  const byId = new Map([current, ...earlier].map((key) => [key.id, key]));
  return { current, byId: (id) => byId.get(id) };
};

const readPrivate = (path: string): string => {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    throw new StoreRefused('key', `the key file ${path} can't be read: put back the one this store was made with`);
  }
  try {
    if (process.platform !== 'win32' && (fstatSync(file).mode & 0o077) !== 0) {
      throw new StoreRefused('key', `the key file ${path} can be read by others: chmod 600 it`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
};

/** Makes the key file of a new store; an existing one is never touched. */
export const makeKeyFile = (path: string): void => {
  const file = openSync(path, 'wx', 0o600);
  writeSync(file, `${newKeyLine()}\n`);
  fsyncSync(file);
  closeSync(file);
};
