/**
 * Secrets at rest: a key encryption key from outside the database wraps one data key for each account, and that data key seals
 * each secret with AES-256-GCM. The additional data binds a sealed secret to whose it is and what it is for, so that a row
 * copied elsewhere opens nothing. Whatever does not open is refused; there is no plaintext to fall back to. DESIGN 8.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Keyring } from './keyring.ts';
import type { Edge } from './log.ts';
import type { Tx } from './store.ts';

/** A secret could not be sealed or opened. Never says more than which account is concerned, and never why in bytes. */
export class VaultRefused extends Error {
  override readonly name = 'VaultRefused';
}

/** Whose secret it is and what for. Every field is authenticated. */
export interface SecretPlace {
  readonly account: string;
  readonly connection: string;
  readonly connector: string;
  readonly field: string;
}

export interface Sealed {
  readonly keyId: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly schema: number;
}

export interface Vault {
  /** Seals under the account's current data key; makes a new one first when the old has sealed often enough. */
  seal(tx: Tx, place: SecretPlace, plaintext: string): Promise<Sealed>;
  /** Throws {@link VaultRefused}. */
  open(tx: Tx, place: SecretPlace, sealed: Sealed): Promise<string>;
  /** Wraps every data key anew under the current key encryption key. Answers how many were. */
  rewrap(tx: Tx): Promise<number>;
}

/** Random 96-bit nonces collide with probability 2^-32 after 2^32 messages; 200,000 keeps far from it. */
export const sealsPerKey = 200_000;
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const schema = 1;

/** Each part preceded by its length: ("ab","c") and ("a","bc") never give the same bytes. */
export const additionalData = (parts: readonly string[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );

/** AES-256-GCM; the tag is the last 16 bytes. */
export const sealBytes = (key: Buffer, nonce: Buffer, plaintext: Buffer, aad: Buffer): Buffer => {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
};

export const openBytes = (key: Buffer, nonce: Buffer, sealed: Buffer, aad: Buffer): Buffer => {
  if (nonce.length !== nonceBytes || sealed.length < tagBytes) throw new VaultRefused('a sealed value is malformed');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
  } catch {
    throw new VaultRefused('a sealed value does not open with the key it names');
  }
};

const secretData = (place: SecretPlace, keyId: string, version: number): Buffer =>
  additionalData([
    'dacapo.secret',
    place.account,
    place.connection,
    place.connector,
    place.field,
    keyId,
    String(version),
  ]);

const keyData = (account: string, keyId: string, kekId: string): Buffer =>
  additionalData(['dacapo.data-key', account, keyId, kekId, String(schema)]);

interface DataKey {
  readonly id: string;
  readonly key: Buffer;
}

/** A vault over the tables `account_keys` and `used_nonces`. */
export const openVault = (keyring: Keyring, edge: Edge): Vault => ({
  seal: async (tx, place, plaintext) => {
    const { id, key } = await sealingKey(tx, keyring, edge, place.account);
    const nonce = edge.randomBytes(nonceBytes);
    await useNonce(tx, id, nonce);
    const bytes = Buffer.from(plaintext, 'utf8');
    const ciphertext = sealBytes(key, nonce, bytes, secretData(place, id, schema));
    bytes.fill(0);
    key.fill(0);
    return { keyId: id, nonce, ciphertext, schema };
  },
  open: async (tx, place, sealed) => {
    const { key } = await dataKey(tx, keyring, place.account, sealed.keyId);
    const bytes = openBytes(key, sealed.nonce, sealed.ciphertext, secretData(place, sealed.keyId, sealed.schema));
    const text = bytes.toString('utf8');
    bytes.fill(0);
    key.fill(0);
    return text;
  },
  rewrap: (tx) => rewrap(tx, keyring, edge),
});

/** A nonce that was used before means a broken source of randomness: nothing is sealed with it. */
const useNonce = async (tx: Tx, keyId: string, nonce: Buffer): Promise<void> => {
  const taken = { key_id: keyId, nonce };
  const done = await tx
    .insertInto('used_nonces')
    .values(taken)
    .onConflict((on) => on.doNothing())
    .executeTakeFirst();
  if (done.numInsertedOrUpdatedRows !== 1n)
    throw new VaultRefused('the random source repeated itself: nothing was stored');
};

// The count rises in the transaction that stores what was sealed; a crash between them leaves neither.
const sealingKey = async (tx: Tx, keyring: Keyring, edge: Edge, account: string): Promise<DataKey> => {
  const current = await tx
    .updateTable('account_keys')
    .set((eb) => ({ writes: eb('writes', '+', 1) }))
    .where('account_id', '=', account)
    .where('retired_at', 'is', null)
    .where('writes', '<', sealsPerKey)
    .returning('id')
    .executeTakeFirst();
  return current === undefined ? newKey(tx, keyring, edge, account) : dataKey(tx, keyring, account, current.id);
};

const newKey = async (tx: Tx, keyring: Keyring, edge: Edge, account: string): Promise<DataKey> => {
  const now = edge.now();
  const retired = tx.updateTable('account_keys').set({ retired_at: now });
  await retired.where('account_id', '=', account).where('retired_at', 'is', null).execute();
  const id = edge.newId();
  const key = edge.randomBytes(keyBytes);
  const wrapped = wrap(keyring, edge, account, id, key);
  await tx
    .insertInto('account_keys')
    .values({ ...wrapped, id, account_id: account, writes: 1, created_at: now })
    .execute();
  return { id, key };
};

const wrap = (
  keyring: Keyring,
  edge: Edge,
  account: string,
  id: string,
  key: Buffer,
): { kek_id: string; nonce: Buffer; wrapped: Buffer } => {
  const nonce = edge.randomBytes(nonceBytes);
  const kek = keyring.current;
  return { kek_id: kek.id, nonce, wrapped: sealBytes(kek.key, nonce, key, keyData(account, id, kek.id)) };
};

interface WrappedKey {
  readonly id: string;
  readonly account_id: string;
  readonly kek_id: string;
  readonly nonce: Buffer;
  readonly wrapped: Buffer;
}

const unwrap = (keyring: Keyring, row: WrappedKey): Buffer => {
  const kek = keyring.byId(row.kek_id);
  if (kek === undefined) throw new VaultRefused('the key that protects this account is not in the key file');
  return openBytes(kek.key, row.nonce, row.wrapped, keyData(row.account_id, row.id, row.kek_id));
};

// Asked for by account as well: a key id alone never leads to another account's key.
const dataKey = async (tx: Tx, keyring: Keyring, account: string, id: string): Promise<DataKey> => {
  const found = tx.selectFrom('account_keys').select(['id', 'account_id', 'kek_id', 'nonce', 'wrapped']);
  const row = await found.where('id', '=', id).where('account_id', '=', account).executeTakeFirst();
  if (row === undefined) throw new VaultRefused('a sealed value names a key that this account does not have');
  return { id, key: unwrap(keyring, row) };
};

const rewrap = async (tx: Tx, keyring: Keyring, edge: Edge): Promise<number> => {
  const found = tx.selectFrom('account_keys').select(['id', 'account_id', 'kek_id', 'nonce', 'wrapped']);
  const rows = await found.where('kek_id', '!=', keyring.current.id).execute();
  for (const row of rows) {
    const wrapped = wrap(keyring, edge, row.account_id, row.id, unwrap(keyring, row));
    await tx.updateTable('account_keys').set(wrapped).where('id', '=', row.id).execute();
  }
  return rows.length;
};
