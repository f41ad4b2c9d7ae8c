import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { newKeyLine } from '../../src/authority/index.ts';
import { additionalData, openBytes, sealBytes, sealsPerKey, VaultRefused } from '../../src/authority/vault.ts';
import { openWorld, type World } from '../support/authority.ts';

const worlds: World[] = [];
const opened = async (...[options]: Parameters<typeof openWorld>): Promise<World> => {
  const world = await openWorld(options);
  worlds.push(world);
  return world;
};
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

/** Changes a store that no authority has open, as somebody with the disk could. */
const tamper = (world: World, sql: string): void => {
  const database = new Database(join(world.stateDir, 'authority.sqlite'));
  database.exec(sql);
  database.close();
};
const again = async (world: World, ...[options]: Parameters<typeof openWorld>): Promise<World> => {
  worlds.splice(worlds.indexOf(world), 1);
  return opened({ stateDir: world.stateDir, ...options });
};

describe('a sealed value', () => {
  const parts = fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 6 });

  test('is bound to where it belongs: no two places give the same bytes', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = a.length === b.length && a.every((part, index) => part === b[index]);
        expect(additionalData(a).equals(additionalData(b))).toBe(same);
      }),
      {
        examples: [
          [
            ['ab', 'c'],
            ['a', 'bc'],
          ],
          [['a', ''], ['a']],
        ],
      },
    );
  });

  test('does not open with any one bit of it, its nonce or its place turned', () => {
    const [key, nonce, place] = [randomBytes(32), randomBytes(12), additionalData(['ann', 'connection'])];
    const sealed = sealBytes(key, nonce, Buffer.from('secret'), place);
    const turned = (bytes: Buffer, bit: number): Buffer => {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return copy;
    };
    for (let bit = 0; bit < sealed.length * 8; bit++)
      expect(() => openBytes(key, nonce, turned(sealed, bit), place)).toThrow(VaultRefused);
    for (let bit = 0; bit < nonce.length * 8; bit++)
      expect(() => openBytes(key, turned(nonce, bit), sealed, place)).toThrow(VaultRefused);
    for (let bit = 0; bit < place.length * 8; bit++)
      expect(() => openBytes(key, nonce, sealed, turned(place, bit))).toThrow(VaultRefused);
    expect(openBytes(key, nonce, sealed, place).toString()).toBe('secret');
  });

  test('is refused when it is too short to be one', () => {
    for (const length of [0, 1, 15]) {
      expect(() => openBytes(randomBytes(32), randomBytes(12), Buffer.alloc(length), Buffer.alloc(0))).toThrow(
        VaultRefused,
      );
    }
  });
});

describe('a stored secret', () => {
  const exchanged = (table: string, columns: string): string => `
    create temp table before as select rowid as place, * from ${table};
    update ${table} set (${columns}) = (select ${columns} from before where before.place <> ${table}.rowid);`;

  test.each([
    ['its bytes exchanged with those of another account', exchanged('secrets', 'key_id, nonce, ciphertext')],
    ['only its ciphertext exchanged', exchanged('secrets', 'nonce, ciphertext')],
    ['the data keys of the accounts exchanged', exchanged('account_keys', 'nonce, wrapped')],
    ['another schema said of it', 'update secrets set schema = 2'],
  ])('opens for nobody with %s', async (_name, sql) => {
    let world = await opened();
    const [ann, bob] = [await world.signIn('ann'), await world.signIn('bob')];
    await Promise.all([ann.connect('canary-of-ann'), bob.connect('canary-of-bob')]);
    await world.close('keep');
    tamper(world, sql);
    world = await again(world);
    const [a, b] = [await world.signIn('ann'), await world.signIn('bob')];
    const answers = [await a.call(), await b.call(), await a.list()];
    expect(answers.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(JSON.stringify(answers, bigint) + world.logged.join('')).not.toContain('canary');
    expect(await a.list(true)).toMatchObject({ outcome: 'authorized' });
  });

  test('is not sealed when the random source repeats itself', async () => {
    const stuck = randomBytes(64);
    const world = await opened({
      edge: { randomBytes: (count) => (count === 12 ? stuck.subarray(0, 12) : randomBytes(count)) },
    });
    const ann = await world.signIn('ann');
    await ann.connect('first');
    const { status, json } = await ann.connect('second');
    expect([status, json.code]).toEqual([503, 'unavailable']);
    expect(await ann.snapshot()).toMatchObject({ revision: '1', connectors: [{ state: 'connected' }] });
    expect(await ann.call()).toMatchObject({ upstream: { credential: 'first' } });
  });

  test('is sealed under a new data key once the old one has sealed often enough', async () => {
    let world = await opened();
    await (await world.signIn('ann')).connect('first');
    await world.close('keep');
    tamper(world, `update account_keys set writes = ${sealsPerKey - 1}`);
    world = await again(world);
    const ann = await world.signIn('ann');
    for (const secret of ['second', 'third']) await ann.connect(secret);
    expect(await ann.call()).toMatchObject({ upstream: { credential: 'third' } });
    await world.close('keep');
    const database = new Database(join(world.stateDir, 'authority.sqlite'), { readonly: true });
    const keys = database
      .prepare('select writes, retired_at is null as current from account_keys order by created_at')
      .all();
    database.close();
    expect(keys).toEqual([
      { writes: sealsPerKey, current: 0 },
      { writes: 1, current: 1 },
    ]);
    await again(world);
  });
});

describe('the key file', () => {
  const connected = async (): Promise<World> => {
    const world = await opened();
    await (await world.signIn('ann')).connect('canary');
    await world.close('keep');
    return world;
  };
  const kek = (world: World) => join(world.stateDir, 'kek');

  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => writeFileSync(path, '')],
    ['of another length', (path: string) => writeFileSync(path, 'AAAA\n')],
  ])('%s stops the start with what to do, and no other key is made', async (_name, spoil) => {
    const world = await connected();
    const before = readFileSync(kek(world), 'utf8');
    spoil(kek(world));
    await expect(openWorld({ stateDir: world.stateDir })).rejects.toMatchObject({
      name: 'StoreRefused',
      reason: 'key',
    });
    writeFileSync(kek(world), before, { mode: 0o600 });
    expect(await (await (await again(world)).signIn('ann')).call()).toMatchObject({
      upstream: { credential: 'canary' },
    });
  });

  test('of another store stops the start too', async () => {
    const world = await connected();
    writeFileSync(kek(world), `${newKeyLine()}\n`);
    await expect(openWorld({ stateDir: world.stateDir })).rejects.toMatchObject({ name: 'VaultRefused' });
  });

  test('that others can read is not used', async () => {
    const world = await connected();
    writeFileSync(join(world.stateDir, 'open'), readFileSync(kek(world)), { mode: 0o644 });
    const start = openWorld({ stateDir: world.stateDir, kekFile: join(world.stateDir, 'open') });
    await expect(start).rejects.toMatchObject({ reason: 'key' });
  });

  test('gets a new first line: everything is wrapped anew, and the old line is needed no more', async () => {
    let world = await connected();
    const [old, fresh] = [readFileSync(kek(world), 'utf8'), newKeyLine()];
    writeFileSync(kek(world), `${fresh}\n${old}`);
    world = await again(world);
    await world.close('keep');
    writeFileSync(kek(world), `${fresh}\n`);
    world = await again(world);
    expect(await (await world.signIn('ann')).call()).toMatchObject({ upstream: { credential: 'canary' } });
  });
});

test('no secret and no token lies in the clear in any file, log line, error or audit entry', async () => {
  let world = await opened();
  const ann = await world.signIn('ann');
  const [secret, rotated] = ['canary-5e1f0-secret', 'canary-77aa1-rotated'];
  await ann.connect(secret);
  const call = await ann.call({ idempotencyKey: 'k' });
  const callId = call.outcome === 'authorized' ? call.callId : '';
  await world.rpc.audit({ callId, outcome: 'succeeded', durationMs: 1, result: '"canary-90cc2-result"' });
  await world.admin('POST', '/v1/accounts/ann/connectors/everything/rotate', { secret: rotated });
  const audit = await world.admin('GET', '/v1/audit');
  const seen = [audit.text, ...world.logged];
  const files = (): string[] => readdirSync(world.stateDir).filter((name) => name !== 'kek' && !name.endsWith('.sock'));
  for (const name of files()) seen.push(readFileSync(join(world.stateDir, name), 'latin1'));
  expect(files()).toContain('authority.sqlite-wal');
  await world.close('keep');
  for (const name of files()) seen.push(readFileSync(join(world.stateDir, name), 'latin1'));
  const hidden = [secret, rotated, 'canary-90cc2', ann.token].flatMap((text) => [
    text,
    Buffer.from(text).toString('base64').slice(0, -4),
    Buffer.from(text).toString('hex'),
  ]);
  for (const text of hidden) expect(seen.filter((place) => place.includes(text))).toEqual([]);
  world = await again(world);
  expect(await (await world.signIn('ann')).call()).toMatchObject({ upstream: { credential: rotated } });
});

function bigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
