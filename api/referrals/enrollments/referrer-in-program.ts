import { AppError, badRequest } from '../../../core/errors.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { type Enrollment, lockEnrollmentOfUser } from '../../../sql/referrals/enrollments.ts';
import { programById } from '../../../sql/referrals/programs.ts';
import { noSuchProgram } from '../programs/service.ts';

/**
 * Returns the referrer whom a body names, locked until the transaction ends.
 *
 * @throws {AppError} `not_found` when the user is not enrolled or the workspace has no such program; `bad_request` when
 *   `program_id` is not the referrer's
 */
export async function referrerInProgram(
  tx: Queryable,
  workspaceId: string,
  body: { external_user_id: string; program_id?: string | null | undefined },
): Promise<Enrollment> {
  const enrollment = await lockEnrollmentOfUser(tx, workspaceId, body.external_user_id);
  if (!enrollment) throw new AppError('not_found', 'this user is not enrolled');
  const given = body.program_id?.toLowerCase() ?? null;
  if (given !== null && given !== enrollment.program_id) {
    if (!(await programById(tx, workspaceId, given))) throw noSuchProgram();
    throw badRequest('program_id', `must be the referrer's program, ${enrollment.program_id}`);
  }
  return enrollment;
}
