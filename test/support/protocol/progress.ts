import type { Message } from './peer.ts';

/** The token that a call asked its progress to carry. */
export function progressTokenOf({ params }: Message): unknown {
  return params?._meta?.['progressToken'];
}
