import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../database/pool.ts';
import { cancelGrantDelivery } from '../fulfilments/grant-deliveries.ts';
import { grantById, grantRecord, markGrantDelivered } from '../referrals/grants.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { queueEvents } from '../webhooks/outbox.ts';

/**
 * Marks a credit grant as delivered, once, with its ledger entries and its webhook event.
 *
 * @returns false when it was delivered before
 * @throws {AppError} `not_found` when the workspace has no such grant, `conflict` when it was revoked
 */
export async function markDelivered(
  tx: Queryable,
  workspaceId: string,
  id: number,
  now: Date,
): Promise<boolean> {
  const grant = await markGrantDelivered(tx, workspaceId, id, now);
  if (!grant) {
    const known = await grantById(tx, workspaceId, id);
    if (!known) throw new AppError('not_found', `there is no credit grant ${id}`);
    if (known.status === 'delivered') return false;
    throw new AppError('conflict', `credit grant ${id} was revoked`);
  }
  const entry = {
    enrollmentId: grant.enrollment_id,
    externalUserId: grant.external_user_id,
    unit: grant.credit_kind,
    cause: 'delivery',
    grantId: grant.id,
  } as const;
  await appendEntries(
    tx,
    workspaceId,
    [
      { ...entry, account: 'credit_earned', amount: -grant.amount },
      { ...entry, account: 'credit_delivered', amount: grant.amount },
    ],
    now,
  );
  await cancelGrantDelivery(tx, grant.id, 'delivered');
  await queueEvents(tx, workspaceId, [{ type: 'credit.delivered', data: grantRecord(grant) }]);
  return true;
}
