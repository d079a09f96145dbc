import { AppError, badRequest } from '../../core/errors.ts';
import type { PayoutMethod, RewardMode } from '../../core/referrals/terms.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { type Enrollment, lockEnrollmentOfUser, updateEnrollment } from '../../sql/referrals/enrollments.ts';
import { type Program, programById } from '../../sql/referrals/programs.ts';
import { requireEmail } from './enroll.ts';
import type { PayoutMethodBody, SavedMethod } from './schemas.ts';

/** A referrer's choices: the reward mode, and where an affiliate is paid. */

/**
 * Switches the reward mode of a referrer's future conversions. Earned rewards stay.
 *
 * @throws {AppError} `not_found` when the user is not enrolled; `forbidden` when the program does not allow the
 *   upgrade
 */
export async function switchRewardMode(
  tx: Queryable,
  workspaceId: string,
  given: { externalUserId: string; mode: RewardMode; now: Date },
): Promise<Enrollment> {
  const { enrollment, program } = await lockReferrer(tx, workspaceId, given.externalUserId);
  const upgrades = given.mode === 'affiliate' && enrollment.reward_mode !== 'affiliate';
  if (upgrades && !program.allow_affiliate_upgrade) {
    throw new AppError('forbidden', 'the program does not allow the affiliate upgrade');
  }
  return updateEnrollment(tx, enrollment, { reward_mode: given.mode }, given.now);
}

/**
 * Saves where an affiliate is paid.
 *
 * @throws {AppError} `bad_request` (email); `not_found` when the user is not enrolled; `forbidden` outside
 *   affiliate mode; `method_not_offered`
 */
export async function savePayoutMethod(
  tx: Queryable,
  workspaceId: string,
  body: PayoutMethodBody,
  now: Date,
): Promise<Enrollment> {
  const email = body.email ?? body.paypal_email ?? null;
  if (email === null) throw badRequest('email', 'is required');
  requireEmail('email', email);
  const { enrollment, program } = await lockReferrer(tx, workspaceId, body.external_user_id);
  if (enrollment.reward_mode !== 'affiliate') {
    throw new AppError('forbidden', 'a payout method requires affiliate mode');
  }
  const method = program.payout_methods.find((offered): offered is PayoutMethod => offered === body.method);
  if (!method) {
    throw new AppError(
      'method_not_offered',
      `the program offers ${program.payout_methods.join(', ') || 'no payout method'}`,
    );
  }
  return updateEnrollment(tx, enrollment, { payout_method: method, payout_email: email.trim() }, now);
}

async function lockReferrer(
  tx: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<{ enrollment: Enrollment; program: Program }> {
  const enrollment = await lockEnrollmentOfUser(tx, workspaceId, externalUserId);
  if (!enrollment) throw new AppError('not_found', 'this user is not enrolled');
  const program = await programById(tx, workspaceId, enrollment.program_id);
  if (!program) throw new Error(`program ${enrollment.program_id} is gone`);
  return { enrollment, program };
}

/** Returns the saved method with its address masked, or null. */
export function savedMethod({
  payout_method,
  payout_email,
}: Pick<Enrollment, 'payout_method' | 'payout_email'>): SavedMethod | null {
  if (payout_method === null || payout_email === null) return null;
  const masked = maskEmail(payout_email);
  return {
    method: payout_method,
    email: masked,
    ...(payout_method === 'paypal' && { paypal_email: masked }),
  };
}

/** Returns `jane@example.com` as `j***@example.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const [first = ''] = email;
  return `${at > 0 ? first : ''}***${email.slice(at)}`;
}
