/** The official server, which nobody here wrote, as a peer of our client. */
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/protocol/index.ts';
import { failureOf, valueOf } from '../support/protocol/client.ts';
import { definitions, openOfficial } from '../support/protocol/official.ts';

const call = (name: string, args?: string) => ({
  name,
  bindings: [],
  args: args === undefined ? undefined : parseJson(args),
});

describe('the official server 2.4.0', () => {
  it('is discovered', async () => {
    await using official = await openOfficial();
    expect(valueOf(await official.client.discover())).toMatchObject({
      supportedVersions: expect.arrayContaining(['2026-07-28']),
      serverInfo: { name: 'official', version: '1' },
      listChanged: false,
    });
  });

  it('lists every page, past an empty cursor, with definitions as it was given them', async () => {
    await using official = await openOfficial();
    const list = valueOf(await official.client.listAll());
    expect(list).toMatchObject({ pages: 2, excluded: [] });
    expect(list.tools.map(({ text }) => JSON.parse(text) as unknown)).toEqual(definitions);
    expect(list.tools.map(({ text }) => text)).toEqual(definitions.map((definition) => JSON.stringify(definition)));
  });

  it('takes a call with its headers, and the contract that goes with it', async () => {
    await using official = await openOfficial();
    const bindings = valueOf(await official.client.listAll()).tools[0]?.bindings ?? [];
    const { text, isError } = valueOf(await official.client.callTool({ ...call('echo', '{"z":"é","a":1}'), bindings }));
    expect(isError).toBe(false);
    expect(text).toContain('{\\"z\\":\\"é\\",\\"a\\":1}');
  });

  it('tells progress on a stream and its answer after it', async () => {
    await using official = await openOfficial();
    const seen: unknown[] = [];
    valueOf(
      await official.client.callTool({ ...call('report'), onProgress: ({ progress }) => void seen.push(progress) }),
    );
    expect(seen).toEqual([1, 2]);
  });

  it('keeps code and data of an error', async () => {
    await using official = await openOfficial();
    expect(failureOf(await official.client.callTool(call('fail')))).toMatchObject({
      kind: 'rejected',
      code: -33002,
      error: { message: expect.stringContaining('expired'), data: { connector: 'docs' } },
    });
  });

  it('stops its work when the call is given up', async () => {
    await using official = await openOfficial();
    const giveUp = new AbortController();
    setTimeout(() => giveUp.abort(), 100);
    expect(failureOf(await official.client.callTool(call('wait'), { signal: giveUp.signal })).kind).toBe('aborted');
    await official.aborted;
  });

  it('serves forty calls at once, each with its own answer', async () => {
    await using official = await openOfficial();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => official.client.callTool(call('report', `{"n":${index}}`))),
    );
    expect(answers.map((answer) => valueOf(answer).text.match(/\d+(?=\})/)?.[0])).toEqual(
      answers.map((_, index) => String(index)),
    );
  });
});
