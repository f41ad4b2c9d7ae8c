/**
 * States that were met, by a hash of 64 bits in two lanes; nothing of the state itself is kept. Open addressing in typed arrays: 12
 * bytes a slot. Of ten million states, two share a hash with a chance of one in 300,000.
 */
export class Seen {
  #capacity = 1 << 16;
  #high = new Uint32Array(this.#capacity);
  #low = new Uint32Array(this.#capacity);
  /** Index of the state, from 1; 0: free. */
  #index = new Uint32Array(this.#capacity);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The index of a state: as it was given before, or the next one, negated (`-1 - index`), when it is new. */
  add(high: number, low: number): number {
    if (this.#size * 2 >= this.#capacity) this.#grow();
    const at = this.#find(high, low);
    if (this.#index[at]! > 0) return this.#index[at]! - 1;
    this.#put(at, high, low, ++this.#size);
    return -this.#size;
  }

  #find(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let at = low & mask;
    while (this.#index[at]! > 0 && (this.#high[at] !== high || this.#low[at] !== low)) at = (at + 1) & mask;
    return at;
  }

  #put(at: number, high: number, low: number, index: number): void {
    this.#high[at] = high;
    this.#low[at] = low;
    this.#index[at] = index;
  }

  #grow(): void {
    const [high, low, index] = [this.#high, this.#low, this.#index];
    this.#capacity *= 2;
    this.#high = new Uint32Array(this.#capacity);
    this.#low = new Uint32Array(this.#capacity);
    this.#index = new Uint32Array(this.#capacity);
    for (let i = 0; i < index.length; i++)
      if (index[i]! > 0) this.#put(this.#find(high[i]!, low[i]!), high[i]!, low[i]!, index[i]!);
  }
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
