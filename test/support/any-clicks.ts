import fc from 'fast-check';
import type { ClickLabels } from '../../core/events/click-labels.ts';
import type { ClickEvent, Unstamped } from '../../core/events/types.ts';

/** Generates any sixteen bytes. */
export const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 });

/** Generates addresses: of IPv4, of IPv6, and any bytes. */
export const anyAddress = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map(mapped),
  anyId,
  // Generates addresses that are almost mapped IPv4 addresses.
  fc.uint8Array({ minLength: 4, maxLength: 4 }).chain((ipv4) =>
    fc.nat({ max: 11 }).map((at) => {
      const address = mapped(ipv4);
      address[at] = (address[at] ?? 0) ^ 1;
      return address;
    }),
  ),
);

function mapped(ipv4: Uint8Array): Uint8Array {
  return Uint8Array.of(...Array<number>(10).fill(0), 0xff, 0xff, ...ipv4);
}

/** Generates labels of any texts. */
export function anyLabels(text: fc.Arbitrary<string>): fc.Arbitrary<ClickLabels> {
  return fc.record({
    domain: text,
    slug: text,
    utmSource: text,
    utmMedium: text,
    utmCampaign: text,
    utmTerm: text,
    utmContent: text,
    ruleId: text,
    variantId: text,
  });
}

/**
 * Generates arbitrary clicks, for properties of writing and reading them.
 *
 * @param text generates labels, channel, referer, user agent, language, and ad
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
    labels: anyLabels(text),
    channel: text,
    referer: text,
    userAgent: text,
    language: text,
    address: anyAddress.map((bytes) => Buffer.from(bytes)),
    flags: fc.integer({ min: 0, max: mostFlags }),
    ad: fc.option(fc.record({ param: text, id: text }), { nil: null }),
  });
}
