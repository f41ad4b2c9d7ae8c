import { describe, expect, test } from 'vitest';

import type { Tool } from '../../src/protocol/results.ts';
import { openContracts } from '../../src/gateway/contracts.ts';
import { ANN, ask, BOB, callOf, errorTo, resultTo, scripted, text, tool, world } from '../support/gateway.ts';
import type { Heard } from '../support/gateway.ts';

const served = (name: string): Tool => ({ name, text: name, definition: {}, bindings: [] });
const withHeader = (header: string): object => tool('t', { a: { type: 'string', 'x-mcp-header': header } });
const count = (heard: readonly Heard[], method: string): number =>
  heard.filter(({ body }) => body.method === method).length;

describe('contracts', () => {
  test('replace a whole list at once, and add a page to what is known', () => {
    const contracts = openContracts(() => 0);
    contracts.served('s', [served('a'), served('b')], true);
    contracts.served('s', [served('c')], false);
    expect(['a', 'b', 'c'].map((name) => contracts.find('s', name) !== undefined)).toEqual([true, true, true]);
    contracts.served('s', [served('c')], true);
    expect(['a', 'b', 'c'].map((name) => contracts.find('s', name) !== undefined)).toEqual([false, false, true]);
  });

  test('of one scope are never those of another, and names that every object has are no tools', () => {
    const contracts = openContracts(() => 0);
    contracts.served('s', [served('a')], true);
    expect([contracts.find('t', 'a'), contracts.find('s', 'constructor'), contracts.find('s', '__proto__')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('are kept for a bounded number of scopes, the newest', () => {
    const contracts = openContracts(() => 0);
    for (let i = 0; i < 2_001; i++) contracts.served(String(i), [served('a')], true);
    expect([contracts.find('0', 'a'), contracts.find('2000', 'a') === undefined]).toEqual([undefined, false]);
  });
});

describe('a call by an outdated contract', () => {
  test('is held against the list that is read again', async () => {
    const tools = [withHeader('Old')];
    const { url, heard } = await scripted((one, response) => resultTo(one, response, text('ok')), tools);
    const { url: door } = await world(url, { gateway: { now: tickingBy(2_000) } });
    await ask(door);
    tools[0] = withHeader('New');
    expect((await ask(door, callOf('t', { a: 'x' }, { headers: { 'mcp-param-new': 'x' } }))).status).toBe(200);
    expect([count(heard, 'tools/list'), heard.at(-1)?.headers['mcp-param-new']]).toEqual([2, 'x']);
  });

  test('that the upstream refuses is made again once, by the contract that is read then', async () => {
    const tools = [withHeader('Old')];
    const { url, heard } = await scripted((one, response) => {
      if (one.headers['mcp-param-new'] !== 'x') return errorTo(one, response, 400, { code: -32020, message: 'header' });
      resultTo(one, response, text('ok'));
    }, tools);
    const { url: door } = await world(url, { gateway: { now: tickingBy(2_000) } });
    await ask(door);
    tools[0] = withHeader('New');
    const told = await ask(door, callOf('t', { a: 'x' }, { headers: { 'mcp-param-old': 'x', 'mcp-param-new': 'x' } }));
    expect([told.status, count(heard, 'tools/call'), count(heard, 'tools/list')]).toEqual([200, 2, 2]);
  });

  test('does not read the list again and again for one caller’s mistakes', async () => {
    const { url, heard } = await scripted((one, response) => resultTo(one, response, text('ok')), [withHeader('A')]);
    const { url: door } = await world(url, { gateway: { now: () => 0 } });
    for (let i = 0; i < 10; i++) expect((await ask(door, callOf('t', { a: 'x' }))).message.error?.code).toBe(-32020);
    for (let i = 0; i < 10; i++) expect((await ask(door, callOf('nothing'))).message.error?.code).toBe(-32602);
    expect([count(heard, 'tools/list'), count(heard, 'tools/call')]).toEqual([1, 0]);
  });

  test('is not made when a person confirmed what the tool was before', async () => {
    const tools = [withHeader('Old')];
    const { url, heard } = await scripted((one, response) => resultTo(one, response, text('ok')), tools);
    const { url: door, authority } = await world(url, { gateway: { now: tickingBy(2_000) } });
    const { callTool } = authority;
    authority.callTool = async (question, options) => ({
      ...(await callTool(question, options)),
      risk: 'HIGH' as const,
    });
    await ask(door);
    tools[0] = withHeader('New');
    const asked = callOf('t', { a: 'x' }, { headers: { 'mcp-param-new': 'x' } });
    expect((await ask(door, asked)).message.error?.code).toBe(-32602);
    expect([count(heard, 'tools/list'), count(heard, 'tools/call')]).toEqual([2, 0]);
    expect((await authority.reported('not_sent')).detail).toBe('-32602');
    // What was served since is what the next confirmation is of.
    expect((await ask(door, asked)).status).toBe(200);
    expect(count(heard, 'tools/call')).toBe(1);
  });

  test('is never held against what another account was served', async () => {
    const { url, heard } = await scripted((one, response) => resultTo(one, response, text('ok')), [withHeader('A')]);
    const { url: door, authority } = await world(url);
    authority.connections.set('2/demo', { credential: 'key-of-bob', version: 1, state: 'connected' });
    for (const token of [ANN, BOB, ANN, BOB])
      await ask(door, callOf('t', { a: 'x' }, { headers: { authorization: `Bearer ${token}`, 'mcp-param-a': 'x' } }));
    expect([count(heard, 'tools/list'), count(heard, 'tools/call')]).toEqual([2, 4]);
  });
});

/** A clock that moves with every look, so that nothing is ever fresh. */
function tickingBy(ms: number): () => number {
  let now = 0;
  return () => (now += ms);
}
