import fc from 'fast-check';
import type { ClickEvent, Unstamped } from '../../core/events/types.ts';

/** Sixteen bytes of any kind. */
export const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 });

/**
 * Clicks of any kind, for properties of how they are written and read.
 *
 * @param text what channel, referer and user agent are
 * @param mostFlags 63 fit into the one byte that they have
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
