import { blockReasonOf, isOneMailbox } from '../../core/referrals/self-referral.ts';
import type { BlockReason } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { type Enrollment, lockEnrollmentShared } from '../referrals/enrollments.ts';
import type { Program } from '../referrals/programs.ts';
import {
  hasCouponUsedBy,
  hasReferred,
  isKnownReferee,
  lockReferee,
  type Person,
  signupsOnDay,
} from '../referrals/referees.ts';
import { type Signup, signupOfUser, visitorTraits } from '../referrals/signups.ts';

/**
 * Returns why a signup earns this referrer nothing, or null. The result holds until the transaction ends, because other
 * signups of the same person wait. The caller has locked the signup.
 */
export async function blockReasonFor(
  tx: Queryable,
  given: { enrollment: Enrollment; program: Program; signup: Signup; now: Date },
): Promise<BlockReason | null> {
  const { enrollment, program, signup, now } = given;
  const { maxSignupsPerDay } = program.terms;
  await lockReferee(tx, signup, {
    externalUserId: enrollment.external_user_id,
    isCounted: maxSignupsPerDay !== null,
  });
  const isOverCap =
    maxSignupsPerDay !== null && (await signupsOnDay(tx, enrollment.id, signup.id, now)) >= maxSignupsPerDay;
  return compare(tx, enrollment, { ...signup, isOverCap });
}

/**
 * Returns why the order of a coupon earns the coupon's owner nothing, or null. It checks the buyer by a server's facts
 * as {@link blockReasonFor} checks a signup. The caller has locked the buyer.
 */
export async function blockReasonForBuyer(
  tx: Queryable,
  buyer: Person,
  owner: { enrollmentId: string; externalUserId: string },
): Promise<BlockReason | null> {
  await lockReferee(tx, buyer, { externalUserId: owner.externalUserId, isCounted: false });
  const enrollment = await lockEnrollmentShared(tx, buyer.workspace_id, owner.enrollmentId);
  return compare(tx, enrollment, { ...buyer, address_hash: null, isOverCap: false });
}

async function compare(
  tx: Queryable,
  enrollment: Enrollment,
  person: Person & { address_hash: Buffer | null; isOverCap: boolean },
): Promise<BlockReason | null> {
  const { workspace_id: workspaceId, external_user_id: referrer } = enrollment;
  const own = await signupOfUser(tx, workspaceId, referrer);
  const emails = [enrollment.email, enrollment.payout_email, own?.email].filter(
    (email) => typeof email === 'string',
  );
  const deviceIds = [enrollment.device_id, own?.device_id].filter((id) => typeof id === 'string');
  const visitor = person.visitor_id ? await visitorTraits(tx, workspaceId, person.visitor_id) : null;
  return blockReasonOf(
    {
      externalUserId: referrer,
      status: enrollment.status,
      emails,
      deviceIds,
      addressHash: enrollment.address_hash,
    },
    {
      externalUserId: person.external_user_id,
      email: person.email,
      deviceId: person.device_id,
      isReferrersVisitor:
        visitor !== null &&
        (visitor.externalUserIds.includes(referrer) ||
          visitor.emails.some((email) => isOneMailbox(emails, email))),
      addressHash: person.address_hash,
      isDuplicate: await isKnownReferee(tx, person),
      isMutual:
        (person.external_user_id !== null &&
          (await hasReferred(tx, workspaceId, person.external_user_id, referrer))) ||
        (await hasCouponUsedBy(tx, person, { externalUserId: referrer, emails })),
      isOverCap: person.isOverCap,
    },
  );
}
