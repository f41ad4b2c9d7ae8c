import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig, variableOf, type Environment } from '../../src/cli/config.ts';
import { CommandError } from '../../src/cli/exit.ts';
import { daemonConfigSchema } from '../../src/host/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'dacapo-config-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const schema = z.strictObject({
  stateDir: z.string(),
  mcpUrl: z.string().default('https://one.example'),
  pollEveryMs: z.number().int().min(50).default(300_000),
  controlUrl: z.string().nullable().default(null),
});
let files = 0;
function written(text: string): string {
  const file = join(folder, `${String(++files)}.yaml`);
  writeFileSync(file, text);
  return file;
}
function load(text: string | null, environment: Environment = {}, flags: Readonly<Record<string, unknown>> = {}) {
  const file = text === null ? join(folder, 'absent.yaml') : written(text);
  return loadConfig({ section: 'daemon', schema, file, named: text !== null, environment, flags });
}
function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(CommandError);
    expect((error as CommandError).exit).toBe(2);
    return (error as CommandError).message;
  }
  throw new Error('it was accepted');
}

test('a flag beats the environment, which beats the file, which beats the default', () => {
  const file = 'daemon: { stateDir: /file, pollEveryMs: 1000, controlUrl: https://file.example }';
  const { value, origins } = load(
    file,
    { DACAPO_DAEMON_POLL_EVERY_MS: '2000', DACAPO_DAEMON_STATE_DIR: '/env' },
    { stateDir: '/flag' },
  );
  expect(value).toEqual({
    stateDir: '/flag',
    pollEveryMs: 2000,
    controlUrl: 'https://file.example',
    mcpUrl: 'https://one.example',
  });
  expect(origins).toEqual({ stateDir: 'flag', pollEveryMs: 'environment', controlUrl: 'file', mcpUrl: 'default' });
});

test('a flag that was not given takes nothing away', () => {
  expect(load('daemon: { stateDir: /file }', {}, { stateDir: undefined }).value.stateDir).toBe('/file');
});

test('a value may stand in a file that the environment names', () => {
  const secret = written('https://from-file.example\n');
  expect(load(null, { DACAPO_DAEMON_STATE_DIR: '/s', DACAPO_DAEMON_CONTROL_URL_FILE: secret }).value.controlUrl).toBe(
    'https://from-file.example',
  );
});

test('a variable together with its twin is refused', () => {
  const both = { DACAPO_DAEMON_STATE_DIR: '/s', DACAPO_DAEMON_STATE_DIR_FILE: '/f' };
  expect(refusal(() => load(null, both))).toContain('keep one');
});

test("the real client's variable for the gateway's address is obeyed, and ours beats it", () => {
  const theirs = { DACAPO_DAEMON_STATE_DIR: '/s', TUTTI_CONNECTOR_MCP_BASE_URL: 'https://theirs.example' };
  expect(load(null, theirs).value.mcpUrl).toBe('https://theirs.example');
  expect(load(null, { ...theirs, DACAPO_DAEMON_MCP_URL: 'https://ours.example' }).value.mcpUrl).toBe(
    'https://ours.example',
  );
});

test.each([
  ['daemon: { stateDir: /s, pollEveryMs: 1 }', 'daemon.pollEveryMs'],
  ['daemon: { stateDir: /s, polEveryMs: 100 }', 'polEveryMs'],
  ['deamon: {}', 'deamon'],
  ['daemon: [', 'not YAML'],
  ['just text', 'expected'],
  ['', 'daemon.stateDir'],
])('%j is refused with what is wrong', (text, reason) => {
  expect(refusal(() => load(text))).toContain(reason);
});

test('a wrong value in the environment is refused by the name of its variable', () => {
  const environment = { DACAPO_DAEMON_STATE_DIR: '/s', DACAPO_DAEMON_POLL_EVERY_MS: 'often' };
  expect(refusal(() => load(null, environment))).toContain('DACAPO_DAEMON_POLL_EVERY_MS');
  expect(refusal(() => load(null, { ...environment, DACAPO_DAEMON_POLL_EVERY_MS: '1' }))).toContain(
    'DACAPO_DAEMON_POLL_EVERY_MS',
  );
});

test('a variable that no key has is refused by its name, one of another section is not', () => {
  const ours = { DACAPO_DAEMON_STATE_DIR: '/s', DACAPO_GATEWAY_NOPE: '1', DACAPO_STATE: '/x' };
  expect(load(null, ours).value.stateDir).toBe('/s');
  for (const name of ['DACAPO_DAEMON_POLL', 'DACAPO_DAEMON_POLL_EVERY_MS_FILE_FILE', 'DACAPO_DAEMON_'])
    expect(refusal(() => load(null, { ...ours, [name]: '1' }))).toMatch(
      new RegExp(`^${name}: .*DACAPO_DAEMON_POLL_EVERY_MS`),
    );
});

test('a file that was named must exist; the one of the default place need not', () => {
  const request = {
    section: 'daemon',
    schema,
    file: join(folder, 'absent.yaml'),
    environment: {},
    flags: { stateDir: '/s' },
  } as const;
  expect(refusal(() => loadConfig({ ...request, named: true }))).toContain("can't be read");
  expect(loadConfig({ ...request, named: false }).value.stateDir).toBe('/s');
});

test('a key called like a part of every object sets nothing', () => {
  expect(load('daemon: { stateDir: /s, __proto__: { pollEveryMs: 60 } }').value.pollEveryMs).toBe(300_000);
  expect(refusal(() => load('daemon: { stateDir: /s, constructor: 1 }'))).toContain('constructor');
});

test('the variable of a key is its section and its words in upper case', () => {
  expect(variableOf('daemon', 'pollEveryMs')).toBe('DACAPO_DAEMON_POLL_EVERY_MS');
});

const connectorsOf = (...connectors: readonly object[]) =>
  loadConfig({
    section: 'daemon',
    schema: daemonConfigSchema.partial(),
    file: written(JSON.stringify({ daemon: { connectors } })),
    named: true,
    environment: {},
    flags: {},
  }).value.connectors;

test('a connector that is configured twice is refused by its name, and by where the first one stands', () => {
  const [one, other] = [
    { id: 'a', kind: 'stdio', command: '/bin/sh' },
    { id: 'b', kind: 'stdio', command: '/bin/sh' },
  ];
  expect(connectorsOf(one, other)?.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(refusal(() => connectorsOf(one, other, { ...one, command: '/bin/cat' }))).toMatch(
    /daemon\.connectors\.2\.id .*: a is there twice \(first as connectors\.0\)/,
  );
});

test.each(['node', './server.sh', 'npx -y server'])(
  'a command %j, looked up anew by each shell, is refused',
  (command) => {
    expect(refusal(() => connectorsOf({ id: 'files', kind: 'stdio', command }))).toMatch(
      /daemon\.connectors\.0\.command .*command of files, .* is no absolute path: .*`command -v`/,
    );
  },
);
