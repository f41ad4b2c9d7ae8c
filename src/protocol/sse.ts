/**
 * Server-sent events of one answer: read as they arrive, and written as they happen.
 *
 * Around the parser stand four things it leaves open: fatal UTF-8 across chunks, a byte order mark, an event whose last line ends in
 * CR alone (the parser would hold it back until the next byte), and caps, per event and for the whole stream. Sources: WHATWG
 * server-sent events; weakness W21 of the earlier client; faults D41, D42.
 */
import { createParser } from 'eventsource-parser';
import { limits } from './limits.ts';

export interface SseEvent {
  /** Undefined means `message`. */
  readonly event: string | undefined;
  readonly data: string;
}

/** A stream that is not valid UTF-8, or larger than a cap. */
export class BadStream extends Error {
  override readonly name = 'BadStream';
  readonly reason: 'utf8' | 'size';
  constructor(reason: 'utf8' | 'size') {
    super(reason === 'utf8' ? 'the event stream is not valid UTF-8' : 'the event stream is larger than its limit');
    this.reason = reason;
  }
}

export interface SseLimits {
  readonly eventBytes?: number;
  readonly streamBytes?: number;
}

/** Takes bytes in any cut and returns the events they complete. What no blank line has ended is no event. */
export interface SseReader {
  /** Throws {@link BadStream}; the reader is of no use afterwards. */
  feed(bytes: Uint8Array): readonly SseEvent[];
}

export function openSseReader(caps: SseLimits = {}): SseReader {
  const { eventBytes = limits.resultBytes, streamBytes = limits.streamBytes } = caps;
  const decoder = new TextDecoder('utf-8', { fatal: true }); // strips one byte order mark, also one cut in two
  const endLines = openLineEnds();
  let events: SseEvent[] = [];
  let read = 0;
  let oversized = false;
  const parser = createParser({
    maxBufferSize: eventBytes,
    onEvent: ({ event, data }) => {
      oversized ||= Buffer.byteLength(data) > eventBytes;
      events.push({ event, data });
    },
    onError: (error) => void (oversized ||= error.type === 'max-buffer-size-exceeded'),
  });
  return {
    feed(bytes) {
      read += bytes.byteLength;
      if (read > streamBytes) throw new BadStream('size');
      parser.feed(endLines(decode(decoder, bytes)));
      if (oversized) throw new BadStream('size');
      const complete = events;
      events = [];
      return complete;
    },
  };
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch {
    throw new BadStream('utf8');
  }
}

/** Turns CR and CRLF into LF, one chunk at a time. A LF that follows a CR across a cut belongs to it. */
function openLineEnds(): (text: string) => string {
  let afterReturn = false;
  return (text) => {
    if (text === '') return text;
    const rest = afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    afterReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  };
}

/** The events of a body in order; stopping the loop stops the body. Throws {@link BadStream} and what the body throws. */
export async function* readEvents(body: AsyncIterable<Uint8Array>, caps: SseLimits = {}): AsyncGenerator<SseEvent> {
  const reader = openSseReader(caps);
  for await (const chunk of body) yield* reader.feed(chunk);
}

/** Headers of an event stream: nothing on the way may hold it back, compress it or keep it. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'private, no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** One message as an event. JSON that came with line breaks between its tokens needs a `data:` for each line. */
export function encodeEvent(messageText: string): string {
  return `event: message\ndata: ${messageText.replace(/\r\n?|\n/g, '\ndata: ')}\n\n`;
}

/** Keeps a quiet connection alive; receivers ignore it. */
export const keepAliveEvent = ':\n\n';
