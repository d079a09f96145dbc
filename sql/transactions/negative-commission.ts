import type { Queryable } from '../database/pool.ts';
import { type HeldCommission, insertCommission } from '../referrals/commissions.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { commissionData } from './move-commissions.ts';

/**
 * Reverses a part of a commission that was paid, or may have been: adds a negative commission, eligible at once, which
 * reduces the next payout.
 *
 * @param given.amountMinor below zero
 * @param given.refundId the refund that causes it; none: a correction of the referrer
 */
export async function addNegativeCommission(
  tx: Queryable,
  commission: HeldCommission,
  given: { amountMinor: number; refundId?: string; now: Date },
): Promise<void> {
  const { amountMinor, refundId, now } = given;
  const cause = refundId === undefined ? 'correction' : 'refund';
  const ofRefund = refundId === undefined ? {} : { refundId };
  const { workspace_id: workspaceId } = commission;
  const negative = await insertCommission(
    tx,
    {
      workspace_id: workspaceId,
      program_id: commission.program_id,
      enrollment_id: commission.enrollment_id,
      order_internal_id: commission.order_internal_id,
      level: commission.level,
      kind: cause,
      amount_minor: amountMinor,
      currency: commission.currency,
      status: 'eligible',
      eligible_at: now,
      ...ofRefund,
      refunds: commission.id,
    },
    now,
  );
  await appendEntries(
    tx,
    workspaceId,
    [
      {
        enrollmentId: commission.enrollment_id,
        externalUserId: commission.external_user_id,
        unit: commission.currency,
        commissionId: negative.id,
        account: 'cash_eligible',
        amount: amountMinor,
        cause,
        ...ofRefund,
      },
    ],
    now,
  );
  await queueEvents(tx, workspaceId, [
    { type: 'commission.created', data: commissionData(negative, commission.order_id, amountMinor) },
  ]);
}
