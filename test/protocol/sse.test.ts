import { createParser } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import {
  BadStream,
  encodeEvent,
  keepAliveEvent,
  openSseReader,
  type SseEvent,
  type SseLimits,
} from '../../src/protocol/index.ts';

/** What the library makes of the whole text at once, with line ends already plain: the oracle. */
function oracle(bytes: Uint8Array): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => void events.push({ event, data }) });
  parser.feed(new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n'));
  return events;
}

function readIn(pieces: readonly Uint8Array[], caps?: SseLimits): SseEvent[] {
  const reader = openSseReader(caps);
  return pieces.flatMap((piece) => [...reader.feed(piece)]);
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Written from the event stream format of the HTML standard: each line is one it has words for. */
const streams: Readonly<Record<string, string>> = {
  message: 'data: {"jsonrpc":"2.0","id":1,"result":{"t":"é𝕏💥"}}\n\n',
  'several lines': 'data: one\ndata:two\ndata:  three\ndata\n\n',
  'comments and keep-alives': ':\n\n: hello\ndata: a\n: between\ndata: b\n\n:\n\n',
  'event, id and retry': 'event: message\nid: 7\nretry: 10\ndata: x\n\nretry: bogus\nid\ndata: y\n\n',
  'unknown fields and no colon': 'foo: bar\ndata\n\nDATA: no\ndata : no\ndata: yes\n\n',
  'byte order mark': '\ufeffdata: after a mark\n\ndata: \ufeff inside\n\n',
  'two byte order marks': '\ufeff\ufeffdata: not a field\n\ndata: x\n\n',
  'null characters': 'data: a\u0000b\nid: 1\u00002\n\n',
  'an event without end': 'data: complete\n\ndata: cut off',
  'an event without data': 'event: lonely\n\nid: 1\n\ndata: x\n\n',
  'blank lines': '\n\n\n\ndata: x\n\n\n\n',
};
const ends = { LF: '\n', CR: '\r', CRLF: '\r\n' } as const;

describe('an event stream', () => {
  const cases = Object.entries(streams).flatMap(([what, text]) =>
    Object.entries(ends).map(([name, end]) => ({ what, name, bytes: bytesOf(text.replaceAll('\n', end)) })),
  );

  it.each(cases)('of $what with $name is read alike in every cut into two, and byte by byte', ({ bytes }) => {
    const expected = oracle(bytes);
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(readIn([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
    expect(readIn([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('is read alike in every cut into three', () => {
    const bytes = bytesOf('\ufeffdata: é\r\rdata: b\r\n\r\ndata: 💥\n\n');
    const expected = oracle(bytes);
    for (let a = 0; a <= bytes.length; a++)
      for (let b = a; b <= bytes.length; b++)
        expect(readIn([bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)])).toEqual(expected);
  });

  it('gives an event that ends in CR at once, not with the next byte', () => {
    expect(readIn([bytesOf('data: now\r\r')])).toEqual([{ event: undefined, data: 'now' }]);
  });

  it('mixes line ends within one event', () => {
    expect(readIn([bytesOf('data: a\rdata: b\ndata: c\r\n\r')])).toEqual([{ event: undefined, data: 'a\nb\nc' }]);
  });

  it('is refused when it is not UTF-8', () => {
    expect(() => readIn([Uint8Array.of(0x64, 0xff)])).toThrow(new BadStream('utf8'));
    expect(() => readIn([Uint8Array.of(0xe2), Uint8Array.of(0x0a)])).toThrow(new BadStream('utf8'));
  });
});

describe('limits of an event stream', () => {
  it('hold for one event in bytes, however it is cut', () => {
    const caps = { eventBytes: 10 };
    expect(readIn([bytesOf('data: 1234567890\n\n')], caps)).toHaveLength(1);
    expect(() => readIn([bytesOf('data: 12345678901\n\n')], caps)).toThrow(new BadStream('size'));
    expect(() => readIn([bytesOf('data: éééééé\n\n')], caps)).toThrow(new BadStream('size'));
  });

  it('hold for a line and for lines that never end', () => {
    const flood = Array.from({ length: 100 }, () => bytesOf('x'.repeat(100)));
    expect(() => readIn(flood, { eventBytes: 1_000 })).toThrow(new BadStream('size'));
    const lines = Array.from({ length: 100 }, () => bytesOf('data: 0123456789\n'));
    expect(() => readIn(lines, { eventBytes: 500 })).toThrow(new BadStream('size'));
  });

  it('hold for all events together, and comments count', () => {
    const events = Array.from({ length: 20 }, () => bytesOf('data: 0123456789\n\n'));
    expect(() => readIn(events, { streamBytes: 300 })).toThrow(new BadStream('size'));
    expect(() =>
      readIn(
        Array.from({ length: 99 }, () => bytesOf(keepAliveEvent)),
        { streamBytes: 100 },
      ),
    ).toThrow(new BadStream('size'));
  });
});

describe('a written event', () => {
  it('comes back as the same JSON, also when its text had line ends of any kind', () => {
    for (const text of ['{"a":1}', '{\n  "a": 1\r\n}', '{\r"a":\n1}']) {
      const [read] = readIn([bytesOf(encodeEvent(text))]);
      expect(JSON.parse(read?.data ?? '')).toEqual({ a: 1 });
    }
  });
});
