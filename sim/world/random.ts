/**
 * Random choices from a seed: the same seed makes the same choices on every machine. Mulberry32, which is quick and
 * passes PractRand far beyond the length of a history.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighboring seeds would begin alike.
    this.#state = Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) ^ (seed >>> 15);
  }

  /** Returns a number from 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns an integer from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Returns a number from `least` to below `most`. */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at++) bytes[at] = this.next() * 256;
    return bytes;
  }
}
