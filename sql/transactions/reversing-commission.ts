import type { Queryable } from '../database/pool.ts';
import { type HeldCommission, insertCommission } from '../referrals/commissions.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { commissionData } from './move-commissions.ts';

/**
 * Reverses a part of a commission by another commission, eligible at once, instead of entries of its own. For a
 * commission that was paid, or may have been: the next payout is reduced.
 *
 * @param given.amountMinor below zero; above zero when it returns an amount that another one reversed
 * @param given.refundId the refund that causes it; none: a correction
 * @param given.ofAmount a correction because the amount of the order changed, not its referrer
 */
export async function addReversingCommission(
  tx: Queryable,
  commission: HeldCommission,
  given: { amountMinor: number; refundId?: string; ofAmount?: boolean; now: Date },
): Promise<void> {
  const { amountMinor, refundId, ofAmount = false, now } = given;
  const cause = refundId === undefined ? 'correction' : 'refund';
  const ofRefund = refundId === undefined ? {} : { refundId };
  const { workspace_id: workspaceId } = commission;
  const reversing = await insertCommission(
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
      ofAmount,
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
        commissionId: reversing.id,
        account: 'cash_eligible',
        amount: amountMinor,
        cause,
        ...ofRefund,
      },
    ],
    now,
  );
  await queueEvents(tx, workspaceId, [
    { type: 'commission.created', data: commissionData(reversing, commission.order_id, amountMinor) },
  ]);
}
