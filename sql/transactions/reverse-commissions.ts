import { assertInvariant } from '../../core/invariants.ts';
import { reversedAmount } from '../../core/referrals/refund.ts';
import type { Queryable } from '../database/pool.ts';
import { type NewNotice, noteForAffiliates } from '../portal/notices.ts';
import {
  accountOf,
  correctedSoFar,
  type HeldCommission,
  lockCommissionsOfOrder,
  mayHaveBeenPaid,
  reversedByRefunds,
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
  const taken: NewNotice[] = [];
  for (const commission of await lockCommissionsOfOrder(tx, refund.order_internal_id)) {
    if (commission.status === 'rejected') continue;
    const before = await reversedSoFar(tx, commission.id);
    const part = reversedAmount(commission.due_minor, purchase.amount_minor, refundedMinor, before);
    // A correction has already reversed all of the remainder.
    if (part <= 0) continue;
    await reversePart(tx, commission, refund, part, now);
    taken.push({ enrollmentId: commission.enrollment_id, amountMinor: part, currency: commission.currency });
    ledgerRows += 1;
  }
  await noteForAffiliates(tx, 'refund', taken, now);
  if (refundedMinor >= purchase.amount_minor) {
    for (const id of await grantsToRevoke(tx, refund.order_internal_id)) {
      if (await revokeGrant(tx, refund.workspace_id, { id, reason: REFUNDED, now })) ledgerRows += 1;
    }
  }
  const matched = refund.matched || purchase.enrollment_id !== null || ledgerRows > 0;
  return completeRefund(tx, refund, { matched, ledgerRows: refund.ledger_rows + ledgerRows });
}

/**
 * Earns again what refunds of an order took of its commissions beyond what they take now: a refund was given back, or
 * the order has another amount. A commission of a wrong referrer stays reversed.
 *
 * @param given.refundedMinor all that is refunded of the order
 */
export async function giveBackCommissions(
  tx: Queryable,
  given: { purchase: Purchase; refund: Refund; refundedMinor: number; now: Date },
): Promise<void> {
  const { purchase, refund, refundedMinor, now } = given;
  for (const commission of await lockCommissionsOfOrder(tx, purchase.order_internal_id)) {
    const { status } = commission;
    if (status === 'rejected' || status === 'reversed') continue;
    if ((await correctedSoFar(tx, commission.id)) > 0) continue;
    const taken = await reversedSoFar(tx, commission.id);
    const over = -reversedAmount(commission.due_minor, purchase.amount_minor, refundedMinor, taken);
    if (over <= 0) continue;
    if (await isSettledElsewhere(tx, commission)) {
      await addReversingCommission(tx, commission, { amountMinor: over, refundId: refund.id, now });
      continue;
    }
    await appendEntries(
      tx,
      commission.workspace_id,
      [
        {
          ...entryOf(commission),
          account: accountOf(status),
          amount: over,
          cause: 'refund',
          refundId: refund.id,
        },
      ],
      now,
    );
  }
}

/**
 * Balances the commissions that refunds reversed whole by corrections, because refunds take less of the order now. They
 * stay reversed, and new ones are earned in their place.
 */
export async function correctReversed(
  tx: Queryable,
  given: { purchase: Purchase; refund: Refund; now: Date },
): Promise<void> {
  const { purchase, refund, now } = given;
  for (const commission of await reversedByRefunds(tx, purchase.order_internal_id)) {
    const { account, reversed_minor: amount } = commission;
    const entry = { ...entryOf(commission), account };
    await appendEntries(
      tx,
      commission.workspace_id,
      [
        { ...entry, amount, cause: 'refund', refundId: refund.id },
        { ...entry, amount: -amount, cause: 'correction' },
      ],
      now,
    );
  }
}

const entryOf = (commission: HeldCommission) => ({
  enrollmentId: commission.enrollment_id,
  externalUserId: commission.external_user_id,
  unit: commission.currency,
  commissionId: commission.id,
});

/** Whether a commission changes by other commissions: it may have been paid, or another one has changed it before. */
const isSettledElsewhere = async (tx: Queryable, commission: HeldCommission): Promise<boolean> =>
  commission.status === 'paid' ||
  commission.due_minor !== commission.amount_minor ||
  (await mayHaveBeenPaid(tx, commission.id));

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
  if (await isSettledElsewhere(tx, commission)) {
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
        ...entryOf(commission),
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
