import type { AttributedShareRow } from '../../clickhouse/inserts/attributed-shares.ts';
import { NO_UUID } from '../../clickhouse/inserts/native-columns.ts';
import type { ClickGroup, Origin } from '../../clickhouse/queries/clicks-before-orders.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { splitByLargestRemainder } from '../../core/money/money.ts';
import type { Unattributed } from '../../sql/orders/unattributed.ts';

/** The facts about an order or a lead that attribution needs. */
export type AttributedEvent = Pick<
  Unattributed,
  'workspaceId' | 'orderId' | 'version' | 'ts' | 'streamOrdinal' | 'model'
>;

export type ShareInput = {
  order: AttributedEvent;
  /** The clicks in the order's window by link, channel and all other dimensions, unsorted. */
  groups: readonly ClickGroup[];
  /** The order's amount in minor units of the workspace's currency. */
  amountMinor: number;
  /** Whether it is a lead: its shares are in `lead` instead of `share`. */
  isLead?: boolean;
  /** The person's first clicks; null when there is none. */
  origin: Origin | null;
};

/** `part` has 16 bits in ClickHouse. */
const MAX_PARTS = 65_536;

type Weighted = { group: ClickGroup; weight: number };

/**
 * Returns the attributed shares of an order under its attribution model. `last_click` and `first_click` give all to one
 * link; `linear` gives each click the same. Minor units are split by largest remainder, first by link and channel, then
 * by the other dimensions of their clicks. Of more than 65,536 links those with the
 * most clicks share.
 *
 * A lead without clicks gets no row. An order without clicks gets one row with the zero UUID and no channel, for the
 * revenue of its person. Reports by link and channel leave it out.
 */
export function sharesOf(input: ShareInput): AttributedShareRow[] {
  const { order, amountMinor, origin, isLead = false } = input;
  const weighted = weigh(order.model, input.groups);
  const base = {
    workspaceId: uuidToBytes(order.workspaceId),
    orderId: order.orderId,
    version: order.version,
    ts: order.ts,
    ordinal: order.streamOrdinal,
    firstChannel: origin?.channel ?? '',
    firstBioLinks: (origin?.bioLinks ?? []).map(uuidToBytes),
    firstOtherChannel: origin?.otherChannel ?? '',
    replaced: false,
  };
  if (weighted.length === 0 && isLead) return [];
  if (weighted.length === 0) {
    return [{ ...base, part: 0, linkId: NO_UUID, channel: '', click: null, share: 1, lead: 0, amountMinor }];
  }
  const weights = weighted.map(({ weight }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const amounts = amountsOf(amountMinor, weighted);
  return weighted.map(({ group, weight }, part) => ({
    ...base,
    part,
    linkId: uuidToBytes(group.linkId),
    channel: group.channel,
    click: group.click,
    share: isLead ? 0 : weight / total,
    lead: isLead ? weight / total : 0,
    amountMinor: amounts[part] ?? 0,
  }));
}

/** Splits minor units: the sum of a link and channel does not depend on the other dimensions of its clicks. */
function amountsOf(amountMinor: number, weighted: readonly Weighted[]): number[] {
  const weightOf = (some: readonly Weighted[]) => some.map(({ weight }) => weight);
  const ofLinks = [...Map.groupBy(weighted, ({ group }) => `${group.linkId}/${group.channel}`).values()];
  const sums = splitByLargestRemainder(
    amountMinor,
    ofLinks.map((some) => weightOf(some).reduce((sum, weight) => sum + weight, 0)),
  );
  const amounts = new Map<Weighted, number>();
  ofLinks.forEach((some, n) => {
    const parts = splitByLargestRemainder(sums[n] ?? 0, weightOf(some));
    some.forEach((one, part) => {
      amounts.set(one, parts[part] ?? 0);
    });
  });
  return weighted.map((one) => amounts.get(one) ?? 0);
}

function weigh(model: Unattributed['model'], groups: readonly ClickGroup[]): Weighted[] {
  // Click times are unique in a deployment, so the same groups always split the same way.
  const sorted = [...groups].sort((a, b) => (a.firstTs < b.firstTs ? -1 : 1));
  if (model === 'linear') return mostClicked(sorted).map((group) => ({ group, weight: group.clicks }));
  const [first] = sorted;
  if (!first) return [];
  const chosen =
    model === 'first_click'
      ? first
      : sorted.reduce((best, group) => (group.lastTs > best.lastTs ? group : best));
  return [{ group: chosen, weight: 1 }];
}

/** Returns the groups with the most clicks, in the given order. */
function mostClicked(groups: ClickGroup[]): ClickGroup[] {
  if (groups.length <= MAX_PARTS) return groups;
  const most = groups.toSorted((a, b) => b.clicks - a.clicks).slice(0, MAX_PARTS);
  const chosen = new Set(most);
  return groups.filter((group) => chosen.has(group));
}
