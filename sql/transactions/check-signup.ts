import { blockReasonOf, isOneMailbox } from '../../core/referrals/self-referral.ts';
import type { BlockReason } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import type { Enrollment } from '../referrals/enrollments.ts';
import type { Program } from '../referrals/programs.ts';
import { hasReferred, isKnownReferee, lockReferee, signupsOnDay } from '../referrals/referees.ts';
import { type Signup, signupOfUser, visitorTraits } from '../referrals/signups.ts';

/**
 * Returns why a signup earns this referrer nothing, or null. Holds until the transaction ends: another signup of the
 * same person waits. The caller has locked the signup.
 */
export async function blockReasonFor(
  tx: Queryable,
  given: { enrollment: Enrollment; program: Program; signup: Signup; now: Date },
): Promise<BlockReason | null> {
  const { enrollment, program, signup, now } = given;
  const { workspace_id: workspaceId, external_user_id: referrer } = enrollment;
  const { maxSignupsPerDay } = program.terms;
  await lockReferee(tx, signup, { externalUserId: referrer, isCounted: maxSignupsPerDay !== null });
  const own = await signupOfUser(tx, workspaceId, referrer);
  const emails = [enrollment.email, own?.email].filter((email) => typeof email === 'string');
  const deviceIds = [enrollment.device_id, own?.device_id].filter((id) => typeof id === 'string');
  const visitor = signup.visitor_id ? await visitorTraits(tx, workspaceId, signup.visitor_id) : null;
  return blockReasonOf(
    {
      externalUserId: referrer,
      status: enrollment.status,
      emails,
      deviceIds,
      addressHash: enrollment.address_hash,
    },
    {
      externalUserId: signup.external_user_id,
      email: signup.email,
      deviceId: signup.device_id,
      isReferrersVisitor:
        visitor !== null &&
        (visitor.externalUserIds.includes(referrer) ||
          visitor.emails.some((email) => isOneMailbox(emails, email))),
      addressHash: signup.address_hash,
      isDuplicate: await isKnownReferee(tx, signup),
      isMutual: await hasReferred(tx, workspaceId, signup.external_user_id, referrer),
      isOverCap:
        maxSignupsPerDay !== null &&
        (await signupsOnDay(tx, enrollment.id, signup.id, now)) >= maxSignupsPerDay,
    },
  );
}
