// Browsers run this file too.
import type { SplitVariant } from './types.ts';

/** Returns variants in the order that {@link variantOf} expects. Their order in the link has no effect on visitors. */
export function orderedVariants(variants: readonly SplitVariant[]): SplitVariant[] {
  return [...variants].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Returns the variant of a visitor: a pure function of visitor, link, ids and weights, so every process and every start
 * returns the same.
 *
 * @param variants in the order of {@link orderedVariants}
 * @param visitorId 16 bytes
 * @param linkId 16 bytes: a visitor's variants on two links are unrelated
 * @returns undefined when there is no variant
 */
export function variantOf<T extends Pick<SplitVariant, 'weight'>>(
  variants: readonly T[],
  visitorId: Uint8Array,
  linkId: Uint8Array,
): T | undefined {
  let rest = share(visitorId, linkId) * variants.reduce((sum, { weight }) => sum + weight, 0);
  for (const variant of variants) {
    rest -= variant.weight;
    if (rest < 0) return variant;
  }
  return variants.at(-1);
}

/** Returns a number from 0 up to 1: FNV-1a, mixed by the finalizer of MurmurHash3, over link and visitor. */
function share(visitorId: Uint8Array, linkId: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of linkId) hash = Math.imul(hash ^ byte, 0x01000193);
  for (const byte of visitorId) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
