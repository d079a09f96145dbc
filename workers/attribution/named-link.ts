import type { ClickGroup, Origin } from '../../clickhouse/queries/clicks-before-orders.ts';
import { CREDITED_TEXTS, type CreditedClick } from '../../core/analytics/dimensions.ts';
import { inferChannel } from '../../core/enrich/infer-channel.ts';
import type { NamedLink } from '../../sql/orders/unattributed.ts';

const NANOS_PER_MICRO = 1_000n;

/**
 * Returns a click for an imported order that names its link. It replaces the visit, which the former service did not
 * store.
 *
 * @param ts microseconds, of the order
 */
export function clickOfNamedLink(link: NamedLink, position: number, ts: number): ClickGroup {
  const unknown = Object.fromEntries(CREDITED_TEXTS.map((name) => [name, ''])) as Omit<CreditedClick, 'asn'>;
  const nanos = BigInt(ts) * NANOS_PER_MICRO;
  return {
    position,
    linkId: link.id,
    channel: channelOf(link),
    click: { ...unknown, domain: link.domain, slug: link.slug, asn: 0 },
    clicks: 1,
    firstTs: nanos,
    lastTs: nanos,
  };
}

/** Returns the origin of the buyer of such an order. */
export function originOfNamedLink(link: NamedLink): Origin {
  const channel = channelOf(link);
  return { channel, bioLinks: [], otherChannel: channel };
}

const channelOf = ({ channel }: NamedLink): string => channel ?? inferChannel('', '');
