import type { Queryable } from '../database/pool.ts';
import type { Purchase } from '../referrals/purchases.ts';
import { type Refund, refundsOfOrder, sumRefunds } from '../referrals/refunds.ts';
import { reverseCommissions } from './reverse-commissions.ts';

/**
 * Raises a refund, because it takes more of its order than was told first. The caller has locked the order.
 *
 * @param given.amountMinor at most what is left of the order
 */
export async function takeMoreBack(
  tx: Queryable,
  given: { purchase: Purchase | null; refund: Refund; amountMinor: number; now: Date },
): Promise<void> {
  const { purchase, refund, amountMinor, now } = given;
  await tx.query('UPDATE refunds SET amount_minor = amount_minor + $2 WHERE id = $1', [
    refund.id,
    amountMinor,
  ]);
  if (!purchase) return;
  const refundedMinor = sumRefunds(await refundsOfOrder(tx, refund.order_internal_id));
  await reverseCommissions(tx, { purchase, refund, refundedMinor, now });
}
