import type { AttributedShareRow } from '../../clickhouse/inserts/attributed-shares.ts';
import { NO_UUID } from '../../clickhouse/inserts/native-columns.ts';
import { uuidToBytes } from '../../core/ids.ts';
import type { WrittenShares } from '../../sql/orders/unattributed.ts';
import type { AttributedEvent } from './shares.ts';

/**
 * Returns the rows that replace shares of an order: all of its other versions, and those parts of this version that an
 * earlier attempt may have written beyond the present number.
 *
 * @param parts of this version
 * @param written versions whose shares may be in ClickHouse
 */
export function replacedShares(
  order: AttributedEvent,
  parts: number,
  written: readonly WrittenShares[],
): AttributedShareRow[] {
  return written.flatMap(({ version, parts: most, ts, streamOrdinal }) => {
    const from = version === order.version ? parts : 0;
    return Array.from({ length: Math.max(0, most - from) }, (_, n) => ({
      workspaceId: uuidToBytes(order.workspaceId),
      orderId: order.orderId,
      version,
      part: from + n,
      ts,
      ordinal: streamOrdinal,
      linkId: NO_UUID,
      channel: '',
      click: null,
      share: 0,
      lead: 0,
      amountMinor: 0,
      firstChannel: '',
      firstBioLinks: [],
      firstOtherChannel: '',
      replaced: true,
    }));
  });
}
