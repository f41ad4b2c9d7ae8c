/** A client of ours against a peer of the test, both closed when the test is over. */
import { createModernClient, type Failure, type ModernClient, type Outcome } from '../../../src/protocol/index.ts';
import { type Handler, openPeer, type Peer } from './peer.ts';

export interface Pair extends AsyncDisposable {
  readonly client: ModernClient;
  readonly peer: Peer;
}

export const quick = { firstByteMs: 400, gapMs: 400, totalMs: 1_500 };

export async function openPair(handler: Handler, deadlines: Partial<typeof quick> = {}): Promise<Pair> {
  const peer = await openPeer(handler);
  const client = createModernClient({
    post: peer.post,
    url: peer.url,
    clientInfo: { name: 'dacapo', version: '0.1.0' },
    connectorVersion: '1.0.0',
    now: () => Date.UTC(2026, 7, 1),
    deadlines: { firstByteMs: 5_000, gapMs: 5_000, totalMs: 10_000, ...deadlines },
  });
  return { client, peer, [Symbol.asyncDispose]: () => peer.close() };
}

/** The value of an outcome, or an error that says what failed. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`no value but ${outcome.failure.kind}: ${outcome.failure.message}`);
}

export function failureOf(outcome: Outcome<unknown>): Failure {
  if (!outcome.ok) return outcome.failure;
  throw new Error('a value, where a failure was expected');
}
