import fc from 'fast-check';
import type { ClickEvent, Unstamped } from '../../core/events/types.ts';

/** Generates any sixteen bytes. */
export const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 });

/**
 * Generates arbitrary clicks, for properties of how they are written and read.
 *
 * @param text generates channel, referer and user agent
 * @param mostFlags largest value of the flags; 63 fits into their one byte
 */
export function anyClick(
  text: fc.Arbitrary<string>,
  { id = anyId as fc.Arbitrary<Uint8Array>, mostFlags = 63 } = {},
): fc.Arbitrary<Unstamped<ClickEvent>> {
  return fc.record({
    kind: fc.constant('click' as const),
    workspaceId: id,
    linkId: id,
    visitorId: id,
    channel: text,
    referer: text,
    userAgent: text,
    address: id,
    flags: fc.integer({ min: 0, max: mostFlags }),
  });
}
