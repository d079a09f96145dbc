import { AppError } from '../../core/errors.ts';
import { toCredits } from '../../core/referrals/credits.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import {
  type ClaimedGrantDelivery,
  type DueFulfilment,
  type GrantDeliveryState,
  saveGrantDelivery,
} from '../../sql/fulfilments/delivery-queue.ts';
import type { Grant } from '../../sql/referrals/grants.ts';
import { markDelivered } from '../../sql/transactions/mark-delivered.ts';
import { queueEvents } from '../../sql/webhooks/outbox.ts';

const REVOKED_MEANWHILE = 'delivered, but the credit was revoked meanwhile: take it back at the receiver';

/**
 * Saves the outcome of an attempt: marks the credit delivered, or announces that it cannot be delivered.
 *
 * @returns the saved status; null: another worker settled the delivery before
 */
export async function settleGrantDelivery(
  tx: Queryable,
  { fulfilment, claimed, grant }: { fulfilment: DueFulfilment; claimed: ClaimedGrantDelivery; grant: Grant },
  state: GrantDeliveryState,
  now: number,
): Promise<GrantDeliveryState['status'] | null> {
  let saved = state;
  if (state.status === 'delivered') {
    try {
      await markDelivered(tx, fulfilment.workspaceId, grant.id, new Date(now));
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'conflict')) throw error;
      saved = { ...state, status: 'failed', deliveredAt: null, error: REVOKED_MEANWHILE };
    }
  }
  if (!(await saveGrantDelivery(tx, claimed, saved))) return null;
  if (saved.status === 'failed') {
    const data = {
      fulfilment_id: fulfilment.id,
      delivery_id: claimed.id,
      provider: fulfilment.provider,
      credit_id: grant.id,
      program_id: grant.program_id,
      partner_id: grant.enrollment_id,
      external_user_id: grant.external_user_id,
      credit_kind: grant.credit_kind,
      amount: toCredits(grant.amount),
      attempts: saved.attempts,
      error: saved.error ?? '',
      failed_at: new Date(now).toISOString(),
    };
    await queueEvents(tx, fulfilment.workspaceId, [{ type: 'fulfilment.failed', data }]);
  }
  return saved.status;
}

/**
 * Returns the end of a delivery whose credit is not earned any more, before an attempt; null: it is earned.
 */
export function stateWithoutAttempt(claimed: ClaimedGrantDelivery, grant: Grant): GrantDeliveryState | null {
  if (grant.status === 'earned') return null;
  const end = {
    attempts: claimed.attempts,
    responseStatus: null,
    responseBody: null,
    reference: null,
    nextAttemptAt: null,
    deliveredAt: null,
    isRefused: false,
  };
  if (grant.status === 'delivered')
    return { ...end, status: 'canceled', error: 'the credit was marked delivered' };
  if (claimed.uncertainSince === null)
    return { ...end, status: 'canceled', error: 'the credit was revoked', isRefused: true };
  return {
    ...end,
    status: 'failed',
    error: 'the credit was revoked after an attempt that may have delivered it: check the receiver',
  };
}
