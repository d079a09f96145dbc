import { seededRandom } from '../../core/seeded-random.ts';

/** Random choices from a seed: the same seed makes the same choices on every machine. */
export class Random {
  /** Returns a number from 0 to below 1. */
  readonly next: () => number;

  constructor(seed: number) {
    // Neighboring seeds would begin alike.
    this.next = seededRandom(Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) ^ (seed >>> 15));
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
