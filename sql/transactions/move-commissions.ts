import { toMajor } from '../../core/money/money.ts';
import type { CommissionStatus } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { type Commission, updateStatuses } from '../referrals/commissions.ts';
import { type CommissionData, queueEvents } from '../webhooks/outbox.ts';

/**
 * Moves locked commissions to a status and queues a `commission.updated` for each. If the move changes the remainder,
 * write its entries first.
 */
export async function moveCommissions(
  tx: Queryable,
  ids: readonly string[],
  status: CommissionStatus,
  now: Date,
): Promise<void> {
  const moved = await updateStatuses(tx, ids, status, now);
  for (const [workspaceId, commissions] of Map.groupBy(moved, (commission) => commission.workspace_id)) {
    await queueEvents(
      tx,
      workspaceId,
      commissions.map((commission) => ({
        type: 'commission.updated',
        data: {
          ...commissionData(commission, commission.order_id, commission.remaining_minor),
          previous_status: commission.previous_status,
        },
      })),
    );
  }
}

/** Returns a commission as its events show it. */
export function commissionData(
  commission: Commission,
  orderId: string | null,
  remainingMinor: number,
): CommissionData {
  return {
    id: commission.id,
    program_id: commission.program_id,
    partner_id: commission.enrollment_id,
    order_id: orderId,
    level: commission.level,
    amount: toMajor(commission.amount_minor, commission.currency),
    remaining: toMajor(remainingMinor, commission.currency),
    currency: commission.currency,
    status: commission.status,
    created_at: commission.created_at.toISOString(),
  };
}
