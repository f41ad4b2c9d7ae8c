/** What an append is about to record: positions given, payloads written, the link computed. The same for every log that chains. */
import { SCHEMA, type LoggedEvent, type NewEvent } from './catalogue.ts';
import { hashPayload, headerOf, linkOf, type ChainPoint } from './chain.ts';
import { assertRecordable } from './parse.ts';

export interface Batch {
  readonly events: readonly LoggedEvent[];
  /** JSON text of each event's data. */
  readonly payloads: readonly string[];
  readonly link: string;
}

/** Places `events` after a batch. *Errors*: {@link BadEvent} for an event that could not be kept exactly. */
export function makeBatch(events: readonly NewEvent[], after: ChainPoint, salt: string, rules: string): Batch {
  const placed = new Array<LoggedEvent>(events.length);
  const payloads = new Array<string>(events.length);
  let headers = '';
  for (let index = 0; index < events.length; index++) {
    const event = (placed[index] = placeEvent(events[index]!, after.position + 1 + index, rules));
    const payload = (payloads[index] = JSON.stringify(event.data));
    headers += headerOf(event.id, event.at, event.cause, event.type, SCHEMA, rules, hashPayload(salt, payload));
  }
  return { events: placed, payloads, link: linkOf(after.link, after.position + 1, events.length, headers) };
}

/** The event as recorded at `position`. *Errors*: {@link BadEvent}. */
export function placeEvent(event: NewEvent, position: number, rules: string): LoggedEvent {
  assertRecordable(event, position);
  const { type, data, id, at, cause } = event;
  return { position, type, data, id, at, cause, schema: SCHEMA, rules } as LoggedEvent;
}
