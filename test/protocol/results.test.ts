import { describe, expect, it } from 'vitest';
import {
  callResultText,
  discoverResultText,
  type JsonObject,
  legacyResultText,
  listResultText,
  negotiateLegacy,
  readCallResult,
  readDiscovery,
  readToolPage,
  toolErrorText,
} from '../../src/protocol/index.ts';

const us = { name: 'connector', version: '0.1.0' };
const value = (text: string): JsonObject => JSON.parse(text) as JsonObject;
const parsed = (text: string) => ({ text, value: value(text) });

describe('results we write', () => {
  it('are read back by our own client: discover', () => {
    const text = discoverResultText({ serverInfo: us, listChanged: true, instructions: 'hello' });
    expect(readDiscovery(value(text))).toEqual({
      supportedVersions: ['2026-07-28'],
      serverInfo: us,
      instructions: 'hello',
      listChanged: true,
    });
  });

  it('never promise changes that are not told', () => {
    expect(value(discoverResultText({ serverInfo: us }))['capabilities']).toEqual({ tools: {} });
  });

  it('are private to the account and old at once', () => {
    for (const text of [discoverResultText({ serverInfo: us }), listResultText([], undefined, us)])
      expect(value(text)).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  });

  it('keep the text of every tool, and tell no cursor from an empty one', () => {
    const tool = '{"name":"t","big":9007199254740993,"inputSchema":{"type":"object"}}';
    const text = listResultText([tool], '', us);
    expect(text).toContain(`"tools":[${tool}]`);
    expect(readToolPage(value(text), text)).toMatchObject({ nextCursor: '', tools: [{ text: tool }] });
    expect(value(listResultText([tool], undefined, us))).not.toHaveProperty('nextCursor');
  });

  it('tell a tool’s own failure as a result', () => {
    const text = toolErrorText('the file is gone');
    expect(readCallResult(value(text), text).isError).toBe(true);
  });
});

describe('results passed on', () => {
  it('are left as they are, and completed where an older server said no type', () => {
    const modern = '{"resultType":"complete","content":[],"n":9007199254740993}';
    expect(callResultText(parsed(modern))).toBe(modern);
    expect(callResultText(parsed('{"content":[],"n":1.0}'))).toBe('{"content":[],"n":1.0,"resultType":"complete"}');
  });

  it('lose for an older client only what its era does not know', () => {
    const text = listResultText(['{"name":"t","n":1.0}'], 'c', us);
    expect(Object.keys(value(legacyResultText(text)))).toEqual(['tools', 'nextCursor', '_meta']);
    expect(legacyResultText(text)).toContain('{"name":"t","n":1.0}');
  });

  it('of an older server need no type', () => {
    expect(readCallResult({ content: [] }, '{"content":[]}', 'legacy').isError).toBe(false);
    expect(readToolPage({ tools: [] }, '{"tools":[]}', 'legacy')).toEqual({
      tools: [],
      excluded: [],
      nextCursor: undefined,
    });
  });
});

describe('the version of an initialize', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2099-01-01', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('asked for as %s is answered with %s', (asked, answered) => {
    expect(negotiateLegacy(asked)).toBe(answered);
  });
});
