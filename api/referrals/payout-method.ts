import { AppError, badRequest } from '../../core/errors.ts';
import { earnsCommission, type PayoutMethod, type RewardMode } from '../../core/referrals/terms.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { Outbox } from '../../sql/mail/outbox.ts';
import {
  type ChangeOrigin,
  type Enrollment,
  lockEnrollmentOfUser,
  updateEnrollment,
} from '../../sql/referrals/enrollments.ts';
import { type Program, programById } from '../../sql/referrals/programs.ts';
import { enrollmentData, queueEvents } from '../../sql/webhooks/outbox.ts';
import { requireEmail } from './enroll.ts';
import type { PayoutMethodBody, SavedMethod } from './schemas.ts';

/** A referrer's choices: the reward mode, and an affiliate's payout address. */

/**
 * Switches the reward mode of a referrer's future conversions. Earned rewards stay.
 *
 * @throws {AppError} `not_found` when the user is not enrolled; `forbidden` when the program does not allow the
 *   upgrade
 */
export async function switchRewardMode(
  tx: Queryable,
  workspaceId: string,
  given: { externalUserId: string; mode: RewardMode },
  origin: ChangeOrigin,
): Promise<Enrollment> {
  const { enrollment, program } = await lockReferrer(tx, workspaceId, given.externalUserId);
  const isUpgrade = enrollment.reward_mode !== 'affiliate' || !program.terms.creditEnabled;
  if (given.mode === 'affiliate' && isUpgrade && !program.allow_affiliate_upgrade) {
    throw new AppError('forbidden', 'the program does not allow the affiliate upgrade');
  }
  return updateEnrollment(tx, enrollment, { reward_mode: given.mode }, origin);
}

/**
 * Saves the payout address of an affiliate.
 *
 * @param given.isTrusted see {@link setPayoutMethod}
 * @throws {AppError} `bad_request` (email); `not_found` when the user is not enrolled; `forbidden` when the user earns
 * credits instead of commission; `method_not_offered`
 */
export async function savePayoutMethod(
  tx: Queryable,
  workspaceId: string,
  given: { body: PayoutMethodBody; isTrusted: boolean },
  origin: ChangeOrigin,
  outbox: Outbox,
): Promise<Enrollment> {
  const { body, isTrusted } = given;
  const email = payoutEmail(body) ?? '';
  const { enrollment, program } = await lockReferrer(tx, workspaceId, body.external_user_id);
  if (!earnsCommission(program.terms, enrollment.reward_mode)) {
    throw new AppError('forbidden', 'a payout method requires affiliate mode');
  }
  const method = offeredMethod(program, body.method);
  return setPayoutMethod(tx, enrollment, { method, email: email.trim(), isTrusted }, origin, outbox);
}

/**
 * Returns the address of a payout method.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` when none is given, or it is malformed
 */
export function payoutEmail(
  body: Partial<PayoutMethodBody>,
  faulty: ReadonlySet<string> = new Set(),
): string | null {
  const email = body.email ?? body.paypal_email ?? null;
  if (email === null && !faulty.has('email') && !faulty.has('paypal_email'))
    throw badRequest('email', 'is required');
  requireEmail(typeof body.email === 'string' ? 'email' : 'paypal_email', email);
  return email;
}

/**
 * Returns the method if the program offers it.
 *
 * @throws {AppError} `method_not_offered`
 */
export function offeredMethod(program: Program, method: string): PayoutMethod {
  const offered = program.payout_methods.find((one): one is PayoutMethod => one === method);
  if (offered) return offered;
  throw new AppError(
    'method_not_offered',
    `the program offers ${program.payout_methods.join(', ') || 'no payout method'}`,
  );
}

/**
 * Sets the payout address of a locked enrollment and queues the event of a change.
 *
 * @param given.isTrusted whether a server, or a user whose identity is proven, sets it. Otherwise anyone may have sent
 *   it, and a change holds the balance back for some days. A trusted call with the same address ends the hold.
 */
export async function setPayoutMethod(
  tx: Queryable,
  enrollment: Enrollment,
  given: { method: PayoutMethod; email: string; isTrusted: boolean },
  origin: ChangeOrigin,
  outbox: Outbox,
): Promise<Enrollment> {
  const { method, email, isTrusted } = given;
  const isSame = enrollment.payout_method === method && enrollment.payout_email === email;
  const unconfirmedAt = isSame ? enrollment.payout_unconfirmed_at : origin.now;
  const changed = await updateEnrollment(
    tx,
    enrollment,
    {
      payout_method: method,
      payout_email: email,
      payout_unconfirmed_at: isTrusted ? null : unconfirmedAt,
    },
    origin,
  );
  if (!isSame) {
    await queueEvents(tx, enrollment.workspace_id, [
      { type: 'enrollment.payout_method_changed', data: enrollmentData(changed) },
    ]);
    await tellFormerAddress(tx, enrollment, email, origin, outbox);
  }
  return changed;
}

/** Tells the former payout address that it gets no more money: its owner may not have changed it. */
async function tellFormerAddress(
  tx: Queryable,
  { workspace_id: workspaceId, payout_email: former }: Enrollment,
  email: string,
  { now }: ChangeOrigin,
  outbox: Outbox,
): Promise<void> {
  if (former === null || normalizeEmail(former) === normalizeEmail(email)) return;
  const content = { kind: 'payout_address_change', at: now.toISOString() } as const;
  await outbox.queue(tx, [{ workspaceId, recipient: normalizeEmail(former), content }]);
}

/**
 * Ends the hold on the balance of a locked enrollment after a page changed the payout address, because the owner of the
 * workspace has asked the referrer. Changes nothing without a hold.
 *
 * @param seen the end of the hold that the owner has read: each address that a page sets has another one
 * @throws {AppError} `conflict` when no address is saved, or it is not the one that the owner has read
 */
export async function confirmPayoutMethod(
  tx: Queryable,
  enrollment: Enrollment,
  seen: string | null,
  origin: ChangeOrigin,
): Promise<Enrollment> {
  if (enrollment.payout_method === null)
    throw new AppError('conflict', 'this referrer has no payout address');
  const until = heldUntil(enrollment, origin.now);
  if ((until && Date.parse(until)) !== (seen && Date.parse(seen)))
    throw new AppError('conflict', 'the payout address, or its hold, has changed since: read it again');
  return updateEnrollment(tx, enrollment, { payout_unconfirmed_at: null }, origin);
}

/** Returns the end of the hold on the balance after a page changed the payout address; null: no hold. */
export function heldUntil(
  { payout_held_until: until }: Pick<Enrollment, 'payout_held_until'>,
  now: Date,
): string | null {
  return until !== null && until > now ? until.toISOString() : null;
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
