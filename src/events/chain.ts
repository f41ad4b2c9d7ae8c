/**
 * The hash chain: one link per batch, over the link before, the batch's place and size, and of each event the header and the
 * *hash* of the payload. So a payload can be taken out of a log, or replaced in a copy, and the chain still holds.
 */
import { hash } from 'node:crypto';
import { LogUnreadable } from './log.ts';

/** Link before the first batch. */
export const GENESIS: string = '0'.repeat(64);

/** The end of a batch: position of its last event, and its link. */
export interface ChainPoint {
  readonly position: number;
  readonly link: string;
}

/** An event as a log keeps it. `link` stands on the last event of each batch; `payload` is `null` once redacted. */
export interface LogRow {
  readonly position: number;
  readonly id: string;
  readonly at: number;
  readonly cause: number | null;
  readonly type: string;
  readonly schema: number;
  readonly rules: string;
  readonly link: string | null;
  readonly payloadHash: string;
  readonly payload: string | null;
}

/** A log that can hand out its rows, with the chain they hang on. What an export is made from. */
export interface RowSource {
  /** Goes into every payload's hash; see {@link hashPayload}. Leaves with a plain export, never with a redacted one. */
  readonly salt: string;
  /** Where the last batch ends that does not go beyond `until`; 0 when there is none. */
  endOf(until: number): number;
  /**
   * Rows from the first event on, oldest first, each after the chain of its batch has been checked; up to {@link endOf} `until`, the
   * head when absent. What comes after is not looked at, and need not hold.
   */
  rows(until?: number): Iterable<LogRow>;
}

/**
 * sha256 of the log's salt and a payload's JSON text, in hex. Salted, because payloads are short: whoever is given a redacted log
 * with the bare hashes could try names until one fits.
 */
export function hashPayload(salt: string, payload: string): string {
  return hash('sha256', salt + payload, 'hex');
}

/**
 * One event's part of a link. Unambiguous because ids, types and rules hold no space: see {@link isWord}. The position is not in
 * it, as the link names the first one and the count.
 */
export function headerOf(
  id: string,
  at: number,
  cause: number | null,
  type: string,
  schema: number,
  rules: string,
  payloadHash: string,
): string {
  return `${id} ${at} ${cause ?? '-'} ${type} ${schema} ${rules} ${payloadHash}\n`;
}

/** The link of a batch: sha256 in hex. `headers` are those of its events, joined. */
export function linkOf(previous: string, first: number, count: number, headers: string): string {
  return hash('sha256', `dacapo ${previous} ${first} ${count}\n${headers}`, 'hex');
}

const WORD = /^[\x21-\x7e]{1,64}$/;

/** Whether a text may stand in a header: 1 to 64 visible ASCII characters. */
export function isWord(text: string): boolean {
  return WORD.test(text);
}

/** The chain does not hold from here on; what came before was checked. */
export class BrokenChain extends LogUnreadable {
  /** First position of the batch that does not hold. */
  readonly position: number;
  readonly reason: string;
  constructor(position: number, reason: string) {
    super(
      `the log does not hold at position ${position}: ${reason}; restore a backup, or keep the file for inspection`,
    );
    this.position = position;
    this.reason = reason;
  }
}
