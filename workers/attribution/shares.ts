import type { AttributedShareRow } from '../../clickhouse/inserts/attributed-shares.ts';
import { NO_UUID } from '../../clickhouse/inserts/native-columns.ts';
import type { ClickGroup, Origin } from '../../clickhouse/queries/clicks-before-orders.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { splitByLargestRemainder } from '../../core/money/money.ts';
import type { UnattributedOrder } from '../../sql/orders/unattributed-orders.ts';

export type ShareInput = {
  order: UnattributedOrder;
  /** The clicks in the order's window by link and channel, unsorted. */
  groups: readonly ClickGroup[];
  /** The order's amount in minor units of the workspace's currency. */
  amountMinor: number;
  /** The person's first clicks; null when there is none. */
  origin: Origin | null;
};

/** `part` has 16 bits in ClickHouse. */
const MAX_PARTS = 65_536;

type Weighted = { group: ClickGroup; weight: number };

/**
 * Returns the attributed shares of an order under its attribution model. `last_click` and `first_click` give all to one link;
 * `linear` gives each click the same. Minor units are split by largest remainder. Of more than 65,536 links those with the
 * most clicks share.
 *
 * An order without clicks gets one row with the zero UUID and no channel, for the revenue of its person. Reports by link and
 * channel leave it out.
 */
export function sharesOf(input: ShareInput): AttributedShareRow[] {
  const { order, amountMinor, origin } = input;
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
  if (weighted.length === 0) {
    return [{ ...base, part: 0, linkId: NO_UUID, channel: '', share: 1, amountMinor }];
  }
  const weights = weighted.map(({ weight }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const amounts = splitByLargestRemainder(amountMinor, weights);
  return weighted.map(({ group, weight }, part) => ({
    ...base,
    part,
    linkId: uuidToBytes(group.linkId),
    channel: group.channel,
    share: weight / total,
    amountMinor: amounts[part] ?? 0,
  }));
}

function weigh(model: UnattributedOrder['model'], groups: readonly ClickGroup[]): Weighted[] {
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
