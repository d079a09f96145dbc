import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../database/pool.ts';
import { cancelGrantDelivery } from '../fulfilments/grant-deliveries.ts';
import { grantById, grantRecord, markGrantRevoked } from '../referrals/grants.ts';
import { appendEntries } from '../referrals/ledger.ts';
import { queueEvents } from '../webhooks/outbox.ts';

/**
 * Revokes a credit grant that is not delivered, once, with its ledger entry and its webhook event.
 *
 * @returns false when it was not earned any more: delivered, or revoked before
 */
export async function revokeGrant(
  tx: Queryable,
  workspaceId: string,
  given: { id: number; reason: string; now: Date },
): Promise<boolean> {
  const grant = await markGrantRevoked(tx, workspaceId, given.id, given.reason);
  if (!grant) return false;
  await appendEntries(
    tx,
    workspaceId,
    [
      {
        enrollmentId: grant.enrollment_id,
        externalUserId: grant.external_user_id,
        account: 'credit_earned',
        unit: grant.credit_kind,
        amount: -grant.amount,
        cause: 'revocation',
        grantId: grant.id,
      },
    ],
    given.now,
  );
  await cancelGrantDelivery(tx, grant.id, 'revoked');
  await queueEvents(tx, workspaceId, [{ type: 'credit.revoked', data: grantRecord(grant) }]);
  return true;
}

/**
 * Revokes a credit grant for a merchant. See {@link revokeGrant}.
 *
 * @returns false when it was revoked before
 * @throws {AppError} `not_found` when the workspace has no such grant, `conflict` when it was delivered
 */
export async function revokeCredit(
  tx: Queryable,
  workspaceId: string,
  given: { id: number; reason: string; now: Date },
): Promise<boolean> {
  if (await revokeGrant(tx, workspaceId, given)) return true;
  const known = await grantById(tx, workspaceId, given.id);
  if (!known) throw new AppError('not_found', `there is no credit grant ${given.id}`);
  if (known.status === 'revoked') return false;
  throw new AppError('conflict', `credit grant ${given.id} was delivered: only an earned one can be revoked`);
}
