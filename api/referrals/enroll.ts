import { AppError, badRequest } from '../../core/errors.ts';
import type { Tier } from '../../core/referrals/terms.ts';
import { isEmail } from '../../core/tracking/emails.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import {
  type Enrollment,
  enrollmentOfUser,
  insertEnrollment,
  lockEnrollmentOfUser,
  updateEnrollment,
} from '../../sql/referrals/enrollments.ts';
import { latestProgram, type Program, programById } from '../../sql/referrals/programs.ts';
import { createReferralLink, referralSlug } from '../../sql/referrals/referral-links.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';

/** Whoever is to be enrolled. Null: not said. */
export type EnrollRequest = {
  externalUserId: string;
  email: string | null;
  name: string | null;
  deviceId: string | null;
  addressHash: Buffer | null;
  tier: Tier;
  /** A server that says another tier than before changes it; a browser's word is good for the first call only. */
  mayChangeTier: boolean;
  programId: string | null;
};

export type Enrolled = { enrollment: Enrollment; slug: string };

/**
 * Enrolls a user once in a workspace and mints the referral link. A user who is enrolled keeps programme and link;
 * what was not known of them before is added.
 *
 * @throws {AppError} `bad_request` (email); `not_found` when there is no such programme, or none at all
 */
export async function enroll(
  tx: Queryable,
  workspaceId: string,
  given: EnrollRequest,
  now: Date,
): Promise<Enrolled> {
  requireEmail('email', given.email);
  const request = { ...given, email: given.email?.trim() ?? null };
  const { externalUserId } = request;
  const asked = request.programId === null ? null : await requireProgram(tx, workspaceId, request.programId);
  const known = await lockEnrollmentOfUser(tx, workspaceId, externalUserId);
  if (known) return completed(tx, known, request, now);
  const program = asked ?? (await latestProgram(tx, workspaceId));
  if (!program) throw new AppError('not_found', 'the workspace has no programme to enroll in');
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
    },
    now,
  );
  if (made) return { enrollment: made, slug: await createReferralLink(tx, program, made.id) };
  const overtaking = await lockEnrollmentOfUser(tx, workspaceId, externalUserId);
  if (!overtaking) throw new Error(`enrollment of ${externalUserId} is gone`);
  return completed(tx, overtaking, request, now);
}

/** The enrollment of a user with its link, made when there is none. Only then is anything locked or written. */
export async function enrolled(
  pool: Pool,
  workspaceId: string,
  request: EnrollRequest,
  now: Date,
): Promise<Enrolled> {
  requireEmail('email', request.email);
  if (request.programId !== null) await requireProgram(pool, workspaceId, request.programId);
  const known = await enrollmentOfUser(pool, workspaceId, request.externalUserId);
  const slug = known && (await referralSlug(pool, known.id));
  if (known && slug !== null && (known.email !== null || request.email === null)) {
    return { enrollment: known, slug };
  }
  return inTransaction(pool, (tx) => enroll(tx, workspaceId, request, now));
}

/** The enrollment with what this call adds, and with a live link: a new one where the last was deleted. */
async function completed(
  tx: Queryable,
  known: Enrollment,
  request: EnrollRequest,
  now: Date,
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
    now,
  );
  const slug = await referralSlug(tx, enrollment.id);
  if (slug !== null) return { enrollment, slug };
  await lockWorkspace(tx, enrollment.workspace_id);
  const program = await requireProgram(tx, enrollment.workspace_id, enrollment.program_id);
  return { enrollment, slug: await createReferralLink(tx, program, enrollment.id) };
}

async function requireProgram(db: Queryable, workspaceId: string, id: string): Promise<Program> {
  const program = await programById(db, workspaceId, id);
  if (!program) throw new AppError('not_found', 'the workspace has no such programme');
  return program;
}

/** @throws {AppError} `bad_request` when an email is given that is none */
export function requireEmail(path: string, email: string | null): void {
  if (email !== null && !isEmail(email)) throw badRequest(path, 'must be an email address');
}
