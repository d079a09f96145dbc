import { hashOfName } from '../link-table/records.ts';

/** Bits per slug: about one in 250 new slugs is a false positive just before the filter is cleared. */
const BITS_EACH = 32;

/**
 * Returns an admission filter: a slug enters the cache on its second request, so that one-time visitors do not evict
 * links in use. It is a Bloom filter with two bits a slug; a false positive costs a place in the cache.
 *
 * @param most slugs until the filter is cleared, a power of two. Twice the capacity of the cache, so that slugs
 * requested in turn are admitted when they fit
 */
export function createAdmissionFilter(most: number): (slug: string) => boolean {
  const mask = most * BITS_EACH - 1;
  const bits = new Uint8Array((most * BITS_EACH) / 8);
  let slugs = 0;

  /** Sets a bit. @returns whether it was set */
  function set(bit: number): boolean {
    const at = bit >>> 3;
    const before = bits[at] ?? 0;
    bits[at] = before | (1 << (bit & 7));
    return bits[at] === before;
  }

  return (slug) => {
    const hash = hashOfName(slug);
    const first = set(hash & mask);
    const second = set((Math.imul(hash, 0x9e3779b1) >>> 7) & mask);
    if (first && second) return true;
    slugs += 1;
    if (slugs === most) {
      bits.fill(0);
      slugs = 0;
    }
    return false;
  };
}
