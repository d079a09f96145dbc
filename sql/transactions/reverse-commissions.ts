import { assertInvariant } from '../../core/invariants.ts';
import { reversedAmount } from '../../core/referrals/refund.ts';
import type { Queryable } from '../database/pool.ts';
import {
  accountOf,
  type HeldCommission,
  lockCommissionsOfOrder,
  mayHaveBeenPaid,
  reversedSoFar,
} from '../referrals/commissions.ts';
import { grantsToRevoke } from '../referrals/grants.ts';
import { appendEntries } from '../referrals/ledger.ts';
import type { Purchase } from '../referrals/purchases.ts';
import { completeRefund, type Refund } from '../referrals/refunds.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { commissionData, moveCommissions } from './move-commissions.ts';
import { addReversingCommission } from './reversing-commission.ts';
import { revokeGrant } from './revoke-credit.ts';

/** `revoked_reason` of a credit whose order was refunded in full. */
const REFUNDED = 'refunded';

/**
 * Reverses, in proportion and at every level, the rewards of a refunded order. A pending or eligible commission
 * shrinks, and becomes `reversed` at zero. A commission that was paid, or is in a payout file and may have been paid,
 * keeps its amount: a negative commission reduces the next payout. A full refund also revokes credits of the order that
 * are not delivered. A commission that was paid to a wrong referrer is reversed too, even when the purchase has no
 * referrer any more.
 *
 * @param refundedMinor total refunded of the order, including this refund
 * @returns the refund with the number of ledger rows that it wrote
 */
export async function reverseCommissions(
  tx: Queryable,
  given: { purchase: Purchase; refund: Refund; refundedMinor: number; now: Date },
): Promise<Refund> {
  const { purchase, refund, refundedMinor, now } = given;
  let ledgerRows = 0;
  for (const commission of await lockCommissionsOfOrder(tx, refund.order_internal_id)) {
    if (commission.status === 'rejected') continue;
    const before = await reversedSoFar(tx, commission.id);
    const part = reversedAmount(commission.amount_minor, purchase.amount_minor, refundedMinor, before);
    // A correction has already reversed all of the remainder.
    if (part <= 0) continue;
    await reversePart(tx, commission, refund, part, now);
    ledgerRows += 1;
  }
  if (refundedMinor >= purchase.amount_minor) {
    for (const id of await grantsToRevoke(tx, refund.order_internal_id)) {
      if (await revokeGrant(tx, refund.workspace_id, { id, reason: REFUNDED, now })) ledgerRows += 1;
    }
  }
  const matched = refund.matched || purchase.enrollment_id !== null || ledgerRows > 0;
  return completeRefund(tx, refund, { matched, ledgerRows: refund.ledger_rows + ledgerRows });
}

async function reversePart(
  tx: Queryable,
  commission: HeldCommission,
  refund: Refund,
  part: number,
  now: Date,
): Promise<void> {
  const { workspace_id: workspaceId, status } = commission;
  if (status === 'reversed' || status === 'rejected')
    throw new Error(`commission ${commission.id} is ${status}: nothing is left to reverse`);
  if (status === 'paid' || (await mayHaveBeenPaid(tx, commission.id))) {
    return addReversingCommission(tx, commission, { amountMinor: -part, refundId: refund.id, now });
  }
  assertInvariant(
    'refund_within_rest',
    part <= commission.remaining_minor,
    () => `${part} of ${commission.remaining_minor} minor units left of commission ${commission.id}`,
  );
  await appendEntries(
    tx,
    workspaceId,
    [
      {
        enrollmentId: commission.enrollment_id,
        externalUserId: commission.external_user_id,
        unit: commission.currency,
        commissionId: commission.id,
        account: accountOf(status),
        amount: -part,
        cause: 'refund',
        refundId: refund.id,
      },
    ],
    now,
  );
  const left = commission.remaining_minor - part;
  if (left === 0) return moveCommissions(tx, [commission.id], 'reversed', now);
  await queueEvents(tx, workspaceId, [
    {
      type: 'commission.updated',
      data: { ...commissionData(commission, commission.order_id, left), previous_status: status },
    },
  ]);
}
