import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueSession } from '../../src/authority/accounts.ts';
import { openAnnouncements } from '../../src/authority/changes.ts';
import { connect } from '../../src/authority/connections.ts';
import { demoSeed } from '../../src/authority/index.ts';
import { makeKeyFile, readKeyring } from '../../src/authority/keyring.ts';
import type { Edge } from '../../src/authority/log.ts';
import { openRuntime } from '../../src/authority/runtime.ts';
import { plantSeed } from '../../src/authority/seed.ts';
import { openStore, type Store } from '../../src/authority/store.ts';
import { openVault } from '../../src/authority/vault.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'dacapo-authority-'));
const asked: string[] = [];
let ids = 0;
const edge: Edge = { now: Date.now, newId: () => `id-${++ids}`, randomBytes, log: () => undefined };
let store: Store;
let token: string;
let runtime: ReturnType<typeof openRuntime>;

beforeAll(async () => {
  store = await openStore(stateDir, (sql) => asked.push(sql));
  makeKeyFile(join(stateDir, 'kek'));
  const vault = openVault(readKeyring(join(stateDir, 'kek')), edge);
  const idle = { wake: () => undefined, settled: () => Promise.resolve(), close: () => Promise.resolve() };
  runtime = openRuntime({ edge, vault, store, announcements: openAnnouncements(() => undefined), drain: idle });
  await store.inTransaction(async (tx) => {
    await plantSeed(tx, edge, demoSeed({ everythingEndpoint: 'http://127.0.0.1:9/mcp' }));
    token = (await issueSession(tx, edge, 'ann', 60_000)).token;
    await connect(
      tx,
      { edge, vault },
      { account: 'ann', connector: 'everything' },
      { secret: 's', connectorVersion: '1.0.0' },
    );
  });
});
afterAll(async () => {
  await store.close();
  rmSync(stateDir, { recursive: true });
});

const statements = async (ask: () => Promise<{ outcome: string }>): Promise<readonly string[]> => {
  asked.length = 0;
  expect((await ask()).outcome).toBe('authorized');
  return [...asked];
};
const at = { connectorId: 'everything', connectorVersion: '1.0.0' };

test('a call is decided in one transaction, and what is asked for is looked up exactly once', async () => {
  const sql = await statements(() => runtime.callTool({ ...at, token, toolName: 'echo', argumentDigest: 'd' }));
  expect(sql.filter((text) => text.includes('account_sessions'))).toHaveLength(1);
  expect(sql.filter((text) => text.includes('bindings') && text.startsWith('select'))).toHaveLength(1);
  expect(sql.filter((text) => /^(begin|commit)/i.test(text))).toEqual(['begin', 'commit']);
  expect(sql.length).toBeLessThanOrEqual(7);
});

test('a probe reads once and writes nothing', async () => {
  const sql = await statements(() => runtime.listTools({ ...at, token, probe: true }));
  expect(sql.filter((text) => !/^(begin|commit)/i.test(text))).toEqual([expect.stringMatching(/^select/)]);
});
