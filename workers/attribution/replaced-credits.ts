import type { AttributedShareRow } from '../../clickhouse/inserts/attributed-shares.ts';
import { NO_UUID } from '../../clickhouse/inserts/native-columns.ts';
import { versionNanos } from '../../core/events/order-version.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { NANOS_PER_MICRO } from '../../core/time/timestamps.ts';
import type { UnattributedOrder } from '../../sql/orders/unattributed-orders.ts';

/**
 * The rows that say which credits of an order count no more: all of its other versions, and of its present one those parts that an
 * earlier try may have written beyond the present number.
 *
 * @param parts of the present version
 * @param noted versions that may stand, with their number of parts
 */
export function replacedCredits(
  { workspaceId, orderId, version: present }: UnattributedOrder,
  parts: number,
  noted: ReadonlyMap<bigint, number>,
): AttributedShareRow[] {
  return [...noted].flatMap(([version, most]) => {
    const nanos = versionNanos(version);
    const from = version === present ? parts : 0;
    return Array.from({ length: Math.max(0, most - from) }, (_, n) => ({
      workspaceId: uuidToBytes(workspaceId),
      orderId,
      version,
      part: from + n,
      ts: Number(nanos / NANOS_PER_MICRO),
      ordinal: Number(nanos % NANOS_PER_MICRO),
      linkId: NO_UUID,
      channel: '',
      share: 0,
      amountMinor: 0,
      firstChannel: '',
      firstBioLinks: [],
      firstOtherChannel: '',
      replaced: true,
    }));
  });
}
