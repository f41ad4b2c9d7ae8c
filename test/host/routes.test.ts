import { expect, test } from 'vitest';
import { within, DeadlineError, linked } from '../../src/host/deadline.ts';
import { ActivationMemory } from '../../src/host/routes/activation.ts';
import { Gate } from '../../src/host/routes/gate.ts';
import { Handles } from '../../src/host/routes/handles.ts';
import { performer } from '../../src/host/routes/perform.ts';
import {
  localConnection,
  type RemoteClient,
  type RemoteClientRequest,
} from '../../src/host/routes/remoteClientFactory.ts';
import { cursors, routeSet } from '../../src/host/server/cursor.ts';
import { republished } from '../../src/host/server/republish.ts';
import { withheldBecause } from '../../src/host/server/withheld.ts';
import type { Installed } from '../../src/host/sources/connectors.ts';
import { uint64 } from '../../src/events/index.ts';
import { readTool, type Tool } from '../../src/protocol/index.ts';
import type { Reason, RouteStatus, Status } from '../../src/reconcile/index.ts';

const never = new AbortController().signal;
const hang = () => new Promise<never>(() => undefined);

test('a gate lets in so many, the next in turn, and who gave up never', async () => {
  const gate = new Gate(2);
  const order: number[] = [];
  const open: (() => void)[] = [];
  const enter = (n: number, signal = never) =>
    gate.run(signal, () => (order.push(n), new Promise<void>((done) => open.push(done))));
  const stop = new AbortController();
  const all = [enter(1), enter(2), enter(3, stop.signal), enter(4)];
  stop.abort(new Error('left'));
  await expect(all[2]).rejects.toThrow('left');
  open[0]?.();
  await expect.poll(() => order).toEqual([1, 2, 4]);
  open.slice(1).forEach((done) => done());
});

test('work under a deadline ends with it, and the caller’s signal keeps no listener', async () => {
  await expect(within(10, never, hang)).rejects.toBeInstanceOf(DeadlineError);
  const caller = new AbortController();
  const waiting = within(1_000, caller.signal, hang);
  caller.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  await expect(within(1_000, caller.signal, () => Promise.resolve(1))).rejects.toThrow('left');
});

test('two signals as one end with the first, until they are released', () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const both = linked(a.signal, b.signal);
  both.release();
  a.abort();
  expect(both.signal.aborted).toBe(false);
  expect(linked(a.signal, b.signal).signal.aborted).toBe(true);
});

const request: RemoteClientRequest = {
  ...{ operation: 'o', connector: 'docs', account: 'ann', generation: 'd.1.0', epoch: 1 },
  connection: localConnection('ann', 'docs'),
  release: { version: '1', digest: 'd' },
  binding: { bindingRef: 'docs.primary', contractVersion: 1 },
};
const stamp = { line: 0, revision: uint64(5) };
const tools = { count: 1, digest: 'x' };

test('a list is remembered for the identical authorization and no other', () => {
  const memory = new ActivationMemory();
  memory.keep(request, stamp, tools);
  expect(memory.recall({ ...request, epoch: 9, operation: 'p' }, stamp)).toEqual(tools);
  for (const other of [
    { account: 'bob' },
    { generation: 'd.2.0' },
    { connector: 'x' },
    { release: { version: '1', digest: 'e' } },
  ])
    expect(memory.recall({ ...request, ...other }, stamp)).toBeUndefined();
  expect(memory.recall(request, { ...stamp, revision: uint64(6) })).toBeUndefined();
  memory.forget(request);
  expect(memory.recall(request, stamp)).toBeUndefined();
});

test('the local connection is the same for an account and connector, whatever the server’s is', () => {
  expect(localConnection('ann', 'docs')).toMatch(/^account-[0-9a-f]{32}$/);
  expect(localConnection('ann', 'docs')).not.toBe(localConnection('anndocs', ''));
});

test('a cursor is read where it was written, for the same routes, and nowhere else', () => {
  const ours = cursors();
  const set = routeSet([{ key: '/a', generation: 'g', epoch: 1 }]);
  const part = { route: '/a', cursor: '', page: 1 };
  const text = ours.write(set, [part]);
  expect(ours.read(text, set)).toEqual([part]);
  expect(ours.read(text, routeSet([{ key: '/a', generation: 'g', epoch: 2 }]))).toBeUndefined();
  expect(cursors().read(text, set)).toBeUndefined();
  for (const bad of ['', '.', 'x', `${text}x`, text.slice(1)]) expect(ours.read(bad, set)).toBeUndefined();
});

test('a tool is re-published with its marks taken out at any depth, and else as it was', () => {
  const text =
    '{"inputSchema":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"x-mcp-header":"B","type":"string","default":1.0}}},"c":{"const":{"x-mcp-header":"no"}}}},"name":"t","n":1e400}';
  const tool = readTool(JSON.parse(text), text) as Tool;
  expect(republished(tool, 'x__t')).toBe(
    text.replace('"x-mcp-header":"B",', '').replace('"name":"t"', '"name":"x__t"'),
  );
});

test('an owner whose activation breaks is closed, and nothing of it is kept', async () => {
  let closed = 0;
  const broken = { discover: () => Promise.reject(new TypeError('a fault of ours')) };
  const client = { ...broken, close: () => Promise.resolve(void closed++) } as unknown as RemoteClient;
  const handles = new Handles();
  const release = { version: '1', digest: 'd' };
  const docs = { connector: 'docs', kind: 'remote', release, binding: { bindingRef: 'a' } } as unknown as Installed;
  const perform = performer({
    ...{ handles, memory: new ActivationMemory(), plane: null, newId: () => 'o' },
    ...{ installed: new Map([['docs', docs]]), factory: () => client, openProcess: hang },
    ...{ tell: () => undefined, onToolsChanged: () => undefined },
  });
  const effect = { kind: 'openRoute', account: 'ann', connector: 'docs', generation: 'g', epoch: 1 } as const;
  await expect(perform(effect, { signal: never, startedAt: 1, stamp: null })).rejects.toThrow('a fault of ours');
  expect([closed, handles.find(effect)]).toEqual([1, undefined]);
});

test('why a tool is not there is told of the account that asks, whatever is still being closed of another', () => {
  const route = { connector: 'docs', stamp: null, tools: null, attempts: 0, nextAttemptAt: null } as const;
  const routes = [
    { ...route, account: 'ann', state: 'closing', reason: 'signed-out' },
    { ...route, account: 'bob', state: 'withheld', reason: 'reauth-required' },
  ] as const;
  const owns = (connector: string): boolean => connector === 'docs';
  const installed = ['docs'];
  const bob = { id: 'bob', epoch: 2, revision: null, state: 'synced', synced: true, ageMs: 1 } as const;
  expect(withheldBecause({ account: bob, routes, installed }, owns)?.code).toBe(-33002);
  expect(withheldBecause({ account: null, routes, installed }, owns)?.code).toBe(-33001);
  expect(withheldBecause({ account: bob, routes, installed }, () => false)).toBeUndefined();
});

test('what nobody has read of a login yet is unavailable, and a session that is not accepted is said to be one', () => {
  const route = { connector: 'docs', account: 'bob', state: 'withheld', stamp: null, tools: null, nextAttemptAt: null };
  const bob = { id: 'bob', epoch: 2, revision: null, state: 'hydrating', synced: false, ageMs: null };
  const told = (reason: Reason, account: Status['account']) =>
    withheldBecause({ account, routes: [{ ...route, reason } as RouteStatus], installed: ['docs'] }, () => true);
  const failed = (reason: string) => ({ ...bob, failed: { reason, position: 3, at: 1_000, nextAttemptAt: 2_000 } });
  expect(told('unknown', bob)).toMatchObject({ code: -33003, data: undefined });
  expect(told('unknown', { ...bob, synced: true })?.code).toBe(-33001);
  const away = told('unknown', failed('unavailable (503)'));
  expect(away).toMatchObject({ code: -33003, data: undefined });
  expect(away?.message).toMatch(
    /unavailable \(503\).* next attempt is at 1970-01-01T00:00:02.000Z\. Nothing was called$/,
  );
  for (const [standing, reason] of [
    ['unknown', 'session (401)'],
    ['stale', 'session-malformed'],
    ['faulted', 'forbidden (403)'],
  ] as const)
    expect(told(standing, failed(reason))).toMatchObject({ code: -33003, data: { accountSession: 'refused' } });
  expect(told('faulted', failed('timeout'))?.message).not.toContain('timeout');
  expect(told('disconnected', failed('session (401)'))?.code).toBe(-33001);
});
