import { join } from 'node:path';
import { BehaviorSubject, Subject, type Subscription } from 'rxjs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fact } from '../../src/events/index.ts';
import { parseFact } from '../../src/events/parse.ts';
import { silent } from '../../src/host/log.ts';
import { hintFacts, type HintTimes } from '../../src/host/sources/hints.ts';
import { sessionFiles } from '../../src/host/sources/sessions.ts';
import { hintFrame, readyFrame } from '../../src/protocol/index.ts';
import { controlServer, folder, login, type ControlServer } from '../support/host/controlServer.ts';

let server: ControlServer;
let heard: Subscription | undefined;
const accounts = new BehaviorSubject<string | null>(null);
const replace = new Subject<void>();
beforeEach(async () => {
  server = await controlServer();
  server.onSocket = (socket) => socket.send(readyFrame('1'));
});
afterEach(async () => {
  heard?.unsubscribe();
  accounts.next(null);
  await server.close();
});

/** Listens, and waits until the facts are as wanted. */
function listen(times: Partial<HintTimes> = {}) {
  const facts: Fact[] = [];
  const path = join(folder(), '{account}.json');
  for (const account of ['ann', 'bob']) login(path.replace('{account}', account), account);
  const quick = { backoffMs: 20, backoffCapMs: 50, stormMs: 100, ...times };
  const options = { url: server.hintsUrl, deviceId: 'd', sessions: sessionFiles(path), log: silent, times: quick };
  let count = 0;
  heard = hintFacts(accounts, replace, { ...options, newId: () => `i${++count}` }).subscribe((fact) =>
    facts.push(fact),
  );
  accounts.next('ann');
  const until = (type: Fact['type'], times_ = 1): Promise<void> =>
    expect
      .poll(() => facts.filter((fact) => fact.type === type).length, { timeout: 5_000 })
      .toBeGreaterThanOrEqual(times_);
  return { facts, until };
}
const hint = (revision: string, account = 'ann') =>
  hintFrame({ revision, connector: 'docs', account, deviceId: 'd', dispatchId: 'x' });

test('a connection is told when the server is ready', async () => {
  const { facts, until } = listen();
  await until('hints.opened');
  expect(facts).toEqual([{ type: 'hints.opened', data: { incarnation: 'i1' } }]);
});

test('a hint is a fact with the revision as it was sent', async () => {
  const { facts, until } = listen();
  await until('hints.opened');
  server.sockets[0]?.send(hint('18446744073709551615'));
  await until('hint.received');
  expect(facts[1]).toMatchObject({
    data: { account: 'ann', revision: '18446744073709551615', connector: 'docs', count: 1 },
  });
});

test('a storm is two facts, the second with the rest of the count and the highest revision', async () => {
  const { facts, until } = listen();
  await until('hints.opened');
  for (let revision = 1; revision <= 2_000; revision++) server.sockets[0]?.send(hint(String(revision)));
  await until('hint.received', 2);
  await expect
    .poll(() => facts.flatMap((f) => (f.type === 'hint.received' ? [f.data.count] : [])).reduce((a, b) => a + b))
    .toBe(2_000);
  const hints = facts.filter((fact) => fact.type === 'hint.received');
  expect(hints.length).toBeLessThan(10);
  expect(hints.at(-1)?.data.revision).toBe('2000');
});

test('hints of another account and frames that are none are passed over', async () => {
  const { facts, until } = listen();
  await until('hints.opened');
  for (const frame of [hint('5', 'bob'), '{', '[]', '{"event_type":"other"}', hint('6')])
    server.sockets[0]?.send(frame);
  await until('hint.received');
  expect(facts.filter((fact) => fact.type === 'hint.received')).toMatchObject([{ data: { revision: '6', count: 1 } }]);
});

test('a lost connection is told, made anew, and told again', async () => {
  const { facts, until } = listen();
  await until('hints.opened');
  server.sockets[0]?.close(1012);
  await until('hints.opened', 2);
  expect(facts.map((fact) => fact.type)).toEqual(['hints.opened', 'hints.lost', 'hints.opened']);
});

test('a peer that is gone without a word is noticed by its silence', async () => {
  server.onSocket = (socket) => {
    socket.send(readyFrame('1'));
    socket.pong = () => undefined;
    (socket as unknown as { _socket: { pause(): void } })._socket.pause();
  };
  const { until } = listen({ pingMs: 60 });
  await until('hints.opened', 2);
});

test('a frame larger than the limit ends the connection, not the listener', async () => {
  const { until } = listen();
  await until('hints.opened');
  server.sockets[0]?.send('x'.repeat(70_000));
  await until('hints.opened', 2);
});

test('after a sleep the connection is replaced at once', async () => {
  const { until } = listen({ backoffMs: 60_000, backoffCapMs: 60_000 });
  await until('hints.opened');
  replace.next();
  await until('hints.opened', 2);
});

test('a switch of the account ends the old channel and opens the new one with its cookie', async () => {
  const { until } = listen();
  await until('hints.opened');
  accounts.next('bob');
  await until('hints.opened', 2);
  await expect.poll(() => server.sockets[0]?.readyState).toBe(3);
});

test('a hint about a connector that can not be installed here is a hint about the account', async () => {
  const { facts, until } = listen();
  await until('hints.opened');
  server.sockets[0]?.send(hint('7').replace('docs', 'GitHub'));
  await until('hint.received');
  expect(facts[1]).toMatchObject({ data: { revision: '7', connector: null } });
  expect(facts.map(parseFact)).toEqual(facts);
});
