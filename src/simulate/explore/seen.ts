/**
 * States that were met, by a hash of 64 bits in two lanes; nothing of the state itself is kept. Open addressing in one typed array,
 * four words a slot, so that a look-up meets one line of the cache and not three. Of ten million states, two share a hash with a
 * chance of one in 300,000.
 */
export class Seen {
  #capacity = 1 << 16;
  /** High lane, low lane, index of the state from 1 (0: free), and one word for the alignment. */
  #slots = new Uint32Array(this.#capacity * 4);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The index of a state: as it was given before, or the next one, negated (`-1 - index`), when it is new. */
  add(high: number, low: number): number {
    if (this.#size * 2 >= this.#capacity) this.#grow();
    const at = find(this.#slots, high, low);
    const index = this.#slots[at + 2]!;
    if (index > 0) return index - 1;
    put(this.#slots, at, high, low, ++this.#size);
    return -this.#size;
  }

  #grow(): void {
    const old = this.#slots;
    this.#capacity *= 2;
    const slots = new Uint32Array(this.#capacity * 4);
    for (let at = 0; at < old.length; at += 4) {
      const [high, low, index] = [old[at]!, old[at + 1]!, old[at + 2]!];
      if (index > 0) put(slots, find(slots, high, low), high, low, index);
    }
    this.#slots = slots;
  }
}

/** Where the state is, or the free slot where it belongs. */
function find(slots: Uint32Array, high: number, low: number): number {
  const last = slots.length - 4;
  let at = (low << 2) & last;
  while (slots[at + 2]! > 0 && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 4) & last;
  return at;
}

function put(slots: Uint32Array, at: number, high: number, low: number, index: number): void {
  slots[at] = high;
  slots[at + 1] = low;
  slots[at + 2] = index;
}

/** A list of 32-bit numbers that grows by blocks: an ordinary array would be copied and boxed. */
export class Numbers {
  #blocks: Uint32Array[] = [];
  #length = 0;
  static readonly #bits = 16;

  get length(): number {
    return this.#length;
  }
  push(value: number): void {
    const block = this.#length >>> Numbers.#bits;
    if (block === this.#blocks.length) this.#blocks.push(new Uint32Array(1 << Numbers.#bits));
    this.#blocks[block]![this.#length & ((1 << Numbers.#bits) - 1)] = value;
    this.#length++;
  }
  at(index: number): number {
    return this.#blocks[index >>> Numbers.#bits]![index & ((1 << Numbers.#bits) - 1)]!;
  }
}
