/**
 * The port through which this room sends: one POST, one streamed answer. Who implements it owns sockets, pools, cookies, address
 * pinning and the refusal of redirects; tests and rooms may put anything behind it that keeps the contract below.
 */
import type { HeaderFields } from './fields.ts';
import type { Stop } from './stop.ts';

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly stop: Stop;
}

/**
 * `destroy` closes the connection of an answer that is not wanted any more, may be called twice, and makes a pending read of `body`
 * settle at once. `headers` are keyed by lower-case name. `body` must not be decoded from a content encoding.
 */
export interface PostResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: AsyncIterable<Uint8Array>;
  destroy(): void;
}

/** Resolves when the headers are there; rejects when there is no answer, or at once when it is given up, as `body` then does. */
export type Post = (request: PostRequest) => Promise<PostResponse>;
