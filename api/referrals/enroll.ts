import { AppError, badRequest } from '../../core/errors.ts';
import type { LinkAddress } from '../../core/links/short-urls.ts';
import type { Tier } from '../../core/referrals/terms.ts';
import { isEmail } from '../../core/tracking/emails.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import {
  type ChangeOrigin,
  type Enrollment,
  enrollmentOfUser,
  insertEnrollment,
  lockEnrollmentOfUser,
  updateEnrollment,
} from '../../sql/referrals/enrollments.ts';
import { latestProgram, type Program, programById } from '../../sql/referrals/programs.ts';
import { createReferralLink, referralAddress } from '../../sql/referrals/referral-links.ts';
import { enrollmentData, queueEvents } from '../../sql/webhooks/outbox.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';

/** The user to enroll. Null: not sent. */
export type EnrollRequest = {
  externalUserId: string;
  email: string | null;
  name: string | null;
  deviceId: string | null;
  addressHash: Buffer | null;
  tier: Tier;
  /** A server may change the tier; a browser may set it only in the first call. */
  mayChangeTier: boolean;
  programId: string | null;
  /** Called with the transaction once a row was inserted; throws to refuse it. */
  countMade(tx: Queryable): Promise<void>;
};

/** `address`: the domain and slug of the referral link. */
export type Enrolled = { enrollment: Enrollment; address: LinkAddress };

/**
 * Enrolls a user once in a workspace and creates the referral link. An enrolled user keeps program and link;
 * missing details are added.
 *
 * @throws {AppError} `bad_request` (email); `not_found` when the program, or any program, does not exist
 */
export async function enroll(
  tx: Queryable,
  workspaceId: string,
  given: EnrollRequest,
  origin: ChangeOrigin,
): Promise<Enrolled> {
  requireEmail('email', given.email);
  const request = { ...given, email: given.email?.trim() ?? null };
  const { externalUserId } = request;
  const asked = request.programId === null ? null : await requireProgram(tx, workspaceId, request.programId);
  const known = await lockEnrollmentOfUser(tx, workspaceId, externalUserId);
  if (known) return completed(tx, known, request, origin);
  const program = asked ?? (await latestProgram(tx, workspaceId));
  if (!program) throw new AppError('not_found', 'the workspace has no program to enroll in');
  await lockWorkspace(tx, workspaceId);
  const made = await insertEnrollment(
    tx,
    {
      workspace_id: workspaceId,
      program_id: program.id,
      external_user_id: externalUserId,
      email: request.email,
      name: request.name,
      device_id: request.deviceId,
      address_hash: request.addressHash,
      tier: request.tier,
      // A program without credits pays cash in either mode, so its referrers may set their payout address from the
      // start.
      reward_mode: program.terms.creditEnabled ? 'referrer' : 'affiliate',
    },
    origin,
  );
  if (made) {
    await request.countMade(tx);
    await queueEvents(tx, workspaceId, [{ type: 'enrollment.created', data: enrollmentData(made) }]);
    return { enrollment: made, address: await createReferralLink(tx, program, made.id) };
  }
  const overtaking = await lockEnrollmentOfUser(tx, workspaceId, externalUserId);
  if (!overtaking) throw new Error(`enrollment of ${externalUserId} is gone`);
  return completed(tx, overtaking, request, origin);
}

/** Returns a user's enrollment with its link, which is created if missing. Locks and writes only then. */
export async function enrolled(
  pool: Pool,
  workspaceId: string,
  request: EnrollRequest,
  origin: ChangeOrigin,
): Promise<Enrolled> {
  requireEmail('email', request.email);
  if (request.programId !== null) await requireProgram(pool, workspaceId, request.programId);
  const known = await enrollmentOfUser(pool, workspaceId, request.externalUserId);
  const address = known && (await referralAddress(pool, known.id));
  if (known && address !== null && (known.email !== null || request.email === null)) {
    return { enrollment: known, address };
  }
  return inTransaction(pool, (tx) => enroll(tx, workspaceId, request, origin));
}

/** Returns the enrollment with the details of this call and a live link, replaced if deleted. */
async function completed(
  tx: Queryable,
  known: Enrollment,
  request: EnrollRequest,
  origin: ChangeOrigin,
): Promise<Enrolled> {
  const enrollment = await updateEnrollment(
    tx,
    known,
    {
      email: known.email ?? request.email,
      name: known.name ?? request.name,
      device_id: known.device_id ?? request.deviceId,
      tier: request.mayChangeTier ? request.tier : known.tier,
    },
    origin,
  );
  const address = await referralAddress(tx, enrollment.id);
  if (address !== null) return { enrollment, address };
  await lockWorkspace(tx, enrollment.workspace_id);
  const program = await requireProgram(tx, enrollment.workspace_id, enrollment.program_id);
  return { enrollment, address: await createReferralLink(tx, program, enrollment.id) };
}

async function requireProgram(db: Queryable, workspaceId: string, id: string): Promise<Program> {
  const program = await programById(db, workspaceId, id);
  if (!program) throw new AppError('not_found', 'the workspace has no such program');
  return program;
}

/** @throws {AppError} `bad_request` when the email is malformed */
export function requireEmail(path: string, email: string | null): void {
  if (email !== null && !isEmail(email)) throw badRequest(path, 'must be an email address');
}
