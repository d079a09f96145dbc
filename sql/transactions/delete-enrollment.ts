import type { Queryable } from '../database/pool.ts';
import { forgetUsersInDeliveries } from '../erasure/erased-deliveries.ts';
import { deleteCouponsOf } from '../referrals/coupons.ts';
import type { ChangeOrigin, Enrollment } from '../referrals/enrollments.ts';

/**
 * Erases a locked enrollment: its name, emails, device and addresses are removed, also from the user's own signup, from
 * payout files and from the history. Ids and amounts stay for the ledger. The link still redirects but earns nothing,
 * and coupons, old codes, and the access to the portal end.
 */
export async function deleteEnrollment(
  tx: Queryable,
  enrollment: Pick<Enrollment, 'id' | 'workspace_id' | 'external_user_id'>,
  { now, by }: ChangeOrigin,
): Promise<void> {
  const { id, workspace_id: workspaceId, external_user_id: user } = enrollment;
  await tx.query(
    `UPDATE enrollments SET email = NULL, name = NULL, device_id = NULL, address_hash = NULL, payout_method = NULL,
       payout_email = NULL, payout_name = NULL, payout_unconfirmed_at = NULL, status = 'suspended', changed_by = $3, updated_at = $2,
       deleted_at = $2
     WHERE id = $1`,
    [id, now, by],
  );
  await tx.query(
    'UPDATE payouts SET payout_email = NULL WHERE enrollment_id = $1 AND payout_email IS NOT NULL',
    [id],
  );
  await tx.query(
    `UPDATE enrollment_changes SET old_value = NULL, new_value = NULL
     WHERE enrollment_id = $1 AND field IN ('email', 'payout_method', 'payout_name')`,
    [id],
  );
  await deleteCouponsOf(tx, id, now);
  await tx.query(
    "DELETE FROM mails WHERE kind = 'message' AND id IN (SELECT mail_id FROM message_recipients WHERE enrollment_id = $1)",
    [id],
  );
  await tx.query('DELETE FROM affiliate_notices WHERE enrollment_id = $1', [id]);
  await tx.query('DELETE FROM applications WHERE enrollment_id = $1', [id]);
  await tx.query('DELETE FROM referral_codes WHERE enrollment_id = $1', [id]);
  await forgetSignupOf(tx, workspaceId, user);
}

/** Erases the details of a user's signup, and of the purchases that wait for it. */
async function forgetSignupOf(tx: Queryable, workspaceId: string, user: string): Promise<void> {
  await tx.query(
    `WITH forgotten AS (
       UPDATE signups SET email = NULL, mailbox = NULL, device_id = NULL, visitor_id = NULL, address_hash = NULL
       WHERE workspace_id = $1 AND external_user_id = $2 RETURNING id
     )
     UPDATE purchases SET email = NULL FROM forgotten WHERE signup_id = forgotten.id AND email IS NOT NULL`,
    [workspaceId, user],
  );
  await forgetUsersInDeliveries(tx, workspaceId, [user]);
}
