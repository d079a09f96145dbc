import { hashOfSlug } from '../link-table/records.ts';

/** Bits for each slug that is remembered: one in some 250 others is taken for one of them just before all are forgotten. */
const BITS_EACH = 32;

/**
 * Tells whether a slug has been asked about lately, for a cache that is to keep what is wanted again: what is kept at
 * the first visitor is mostly kept for nobody, drives out what is wanted, and is thrown away when the collector has
 * to look through all that is kept. A Bloom filter of two bits a slug; taking one for another costs a place in the cache.
 *
 * @param most slugs remembered, a power of two; then all are forgotten. Twice what the cache holds, so that slugs which come
 *   one after the other, again and again, are seen to repeat when they fit in there
 */
export function createAdmissionFilter(most: number): (slug: string) => boolean {
  const mask = most * BITS_EACH - 1;
  const bits = new Uint8Array((most * BITS_EACH) / 8);
  let remembered = 0;

  /** Sets a bit; whether it syncPoint already. */
  function set(bit: number): boolean {
    const at = bit >>> 3;
    const before = bits[at] ?? 0;
    bits[at] = before | (1 << (bit & 7));
    return bits[at] === before;
  }

  return (slug) => {
    const hash = hashOfSlug(slug);
    const first = set(hash & mask);
    const second = set((Math.imul(hash, 0x9e3779b1) >>> 7) & mask);
    if (first && second) return true;
    remembered += 1;
    if (remembered === most) {
      bits.fill(0);
      remembered = 0;
    }
    return false;
  };
}
