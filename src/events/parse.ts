/**
 * From unknown JSON to events. At the edge (a fact to accept, a log file from elsewhere) the catalogue's schemas decide; rows of our
 * own log were checked when they were written and are bound by the chain, so reading them back costs one `JSON.parse`.
 */
import { z } from 'zod';
import { isWord } from './chain.ts';
import {
  catalogue,
  eventTypes,
  type EventType,
  type Fact,
  type LoggedEvent,
  type NewEvent,
  type UnknownEvent,
} from './catalogue.ts';
import type { RecordedEvent } from './log.ts';
import { upcast, upcastSteps, type UpcastStep } from './upcast.ts';

/** Something that is not an event. Names the field and what to do, and never quotes a value, which could be a secret. */
export class BadEvent extends Error {
  override readonly name = 'BadEvent';
  /** Dotted path of the first bad field; empty for the event as a whole. */
  readonly path: string;
  /** The message without its next step. */
  readonly reason: string;
  readonly next: string;
  constructor(path: string, reason: string, next: string) {
    const what = `bad event${path === '' ? '' : ` at ${path}`}: ${reason}`;
    super(`${what}; ${next}`);
    this.path = path;
    this.reason = what;
    this.next = next;
  }
}

const word = z.string().refine(isWord, 'expected 1 to 64 visible ASCII characters');
const count = z.number().int().positive();
/** Not a record: that would copy every payload before the catalogue looks at it. */
const payload = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object',
);

/** The order of the keys is that of an event of our own logs. */
const envelopeSchema = z.strictObject({
  position: count,
  type: word,
  data: payload.nullable(),
  id: word,
  at: z.number().int().nonnegative(),
  cause: count.nullable(),
  schema: count,
  rules: word,
});
const factSchema = z.strictObject({ type: z.string(), data: payload });

const FIX_SENDER = 'correct the sender';
const FIX_FILE = 'export the log again with "dacapo log export", or correct the line';

const types: ReadonlySet<string> = new Set(eventTypes);

/** Whether the catalogue of this version knows the type. */
export function isEventType(type: string): type is EventType {
  return types.has(type);
}

/** Whether an event is kept without being understood. */
export function isUnknown(event: RecordedEvent): event is UnknownEvent {
  return 'unknown' in event;
}

/** What the edge heard, as a fact. *Errors*: {@link BadEvent}, also for a type that is not in the catalogue. */
export function parseFact(value: unknown): Fact {
  const { type, data } = checked(factSchema, value, '', FIX_SENDER);
  if (!isEventType(type)) throw new BadEvent('type', 'not a type of the catalogue', FIX_SENDER);
  return { type, data: checked(catalogue[type], data, 'data', FIX_SENDER) } as Fact;
}

/**
 * An event as recorded somewhere else, checked by the catalogue after it was lifted to today's schema. A type or schema that this
 * version does not know, or one without its payload (`data` is `null`), is kept as {@link UnknownEvent}. *Errors*: {@link BadEvent}.
 */
export function parseRecorded(value: unknown, steps: readonly UpcastStep[] = upcastSteps): RecordedEvent {
  const event = checked(envelopeSchema, value, '', FIX_FILE);
  const recorded = recordedEvent(event, steps);
  if (isUnknown(recorded)) return recorded;
  return { ...recorded, data: checked(catalogue[recorded.type], recorded.data, 'data', FIX_FILE) } as LoggedEvent;
}

/** An event as a row holds it. `data` is `null` where the payload was redacted. */
export interface RawEvent {
  readonly position: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly id: string;
  readonly at: number;
  readonly cause: number | null;
  readonly schema: number;
  readonly rules: string;
}

/** The event of a trusted row: itself, when it is of today's schema; else lifted, or marked as unknown. */
export function recordedEvent(raw: RawEvent, steps: readonly UpcastStep[] = upcastSteps): RecordedEvent {
  const { type, schema, data } = raw;
  const newest = steps.length + 1;
  if (data === null) return { ...raw, unknown: 'redacted', data: {} };
  if (schema > newest || !isEventType(type)) return { ...raw, unknown: 'newer', data };
  if (schema === newest) return raw as unknown as LoggedEvent;
  return { ...raw, data: upcast(type, schema, data, steps), schema: newest } as unknown as LoggedEvent;
}

/** Refuses what a log could not keep exactly, at the position it would get; the payload was checked by {@link parseFact}. */
export function assertRecordable({ type, id, at, cause }: NewEvent, position: number): void {
  if (!isEventType(type)) throw new BadEvent('type', 'not a type of the catalogue', FIX_SENDER);
  if (!isWord(id)) throw new BadEvent('id', 'expected 1 to 64 visible ASCII characters', FIX_SENDER);
  if (!Number.isSafeInteger(at) || at < 0) throw new BadEvent('at', 'expected whole ms since epoch', FIX_SENDER);
  if (cause !== null && !(Number.isSafeInteger(cause) && cause >= 1 && cause < position))
    throw new BadEvent('cause', 'expected the position of an event recorded before', FIX_SENDER);
}

function checked<T extends z.ZodType>(schema: T, value: unknown, at: string, next: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = [at, ...(issue?.path ?? []).map(String)].filter((part) => part !== '').join('.');
  throw new BadEvent(path.slice(0, 200), issue?.message.slice(0, 200) ?? 'not as the catalogue says', next);
}
