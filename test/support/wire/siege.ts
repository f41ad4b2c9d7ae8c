/**
 * Throws bad inputs at an entry point and holds it against one oracle: an answer in order before the watchdog, nothing thrown anywhere,
 * nothing remembered, `({})` as it was, and the next good request served.
 */
import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Entry {
  readonly inFlight: number;
  next(): Buffer;
  /** Sends one input. `accepted`: it happened to be good. Throws when the answer is not in order. */
  send(input: Buffer): Promise<'refused' | 'accepted'>;
  /** A good request; throws when it is not served. */
  good(): Promise<void>;
  /** What no bad input may have changed, as a text. */
  state(): string;
}

export interface Tally {
  /** Inputs that were bad, each another. */
  readonly refused: number;
  readonly accepted: number;
  /** Bytes held after the last round above those after the first, and what would be too many. */
  readonly heldBytes: number;
  readonly allowedBytes: number;
}

const WATCHDOG_MS = 5_000;
const ROUND = 250;
const HELD_PER_BYTE = 100;

/** Sends until so many bad inputs that nobody has `seen` were refused. Throws on the first that breaks the oracle. */
export async function besiege(entry: Entry, wanted: number, seen: Set<string>): Promise<Tally> {
  const counts = { refused: 0, accepted: 0 };
  const before = entry.state();
  let heldBefore: number | undefined;
  let [heldBytes, allowedBytes] = [0, 0];
  while (counts.refused < wanted) {
    const bytes = await round(entry, seen, counts);
    await watched(entry.good(), 'the next good request');
    if (entry.state() !== before) throw new Error(`bad input changed ${before} to ${entry.state()}`);
    expectClean();
    const held = heldNow() - seen.size * SEEN_BYTES;
    heldBefore ??= held;
    [heldBytes, allowedBytes] = [held - heldBefore, bytes * HELD_PER_BYTE];
    if (heldBytes > allowedBytes) throw new Error(`${heldBytes} bytes are held after ${bytes} bytes of bad input`);
  }
  return { ...counts, heldBytes, allowedBytes };
}

/** What the test itself keeps for each input that it has seen. */
const SEEN_BYTES = 100;

async function round(entry: Entry, seen: Set<string>, counts: { refused: number; accepted: number }): Promise<number> {
  const inputs = Array.from({ length: ROUND }, () => fresh(entry, seen));
  let bytes = 0;
  let at = 0;
  const work = async (): Promise<void> => {
    for (let input = inputs[at++]; input !== undefined; input = inputs[at++]) {
      bytes += input.length;
      counts[await watched(entry.send(input), input.toString('latin1').slice(0, 400))] += 1;
    }
  };
  await Promise.all(Array.from({ length: entry.inFlight }, work));
  return bytes;
}

/** An input that was not sent before. */
function fresh(entry: Entry, seen: Set<string>): Buffer {
  for (;;) {
    const input = entry.next();
    const digest = createHash('sha1').update(input).digest('base64');
    if (!seen.has(digest)) return (seen.add(digest), input);
  }
}

async function watched<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${WATCHDOG_MS} ms to ${what}`)), WATCHDOG_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const prototypes = [Object.prototype, Array.prototype, Function.prototype, Buffer.prototype];
const names = prototypes.map((one) => Reflect.ownKeys(one).length);

function expectClean(): void {
  for (const name in {}) throw new Error(`every object now has ${name}`);
  prototypes.forEach((one, index) => {
    if (Reflect.ownKeys(one).length !== names[index]) throw new Error('a prototype has another member');
  });
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heldNow(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
